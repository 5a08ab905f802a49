//! Declares the tools and resources, and hands calls to `answers`. Does not compute answers.

use crate::folders::{Compiled, Folders};
use crate::{answers, guides};
use chancery_core::diagnostic::Severity;
use chancery_core::dialect;
use chancery_core::resource::nearest;
use chancery_core::simulate::WrittenRequest;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResult, ContentBlock, ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, schemars, tool, tool_handler, tool_router};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an agent reads first.
const INSTRUCTIONS: &str = "Chancery computes what gateway controllers (Ambassador, Contour, Envoy Gateway, AGIC, ingress-nginx, Consul) make of YAML. \
    After you change gateway YAML, call `check`. To see what happens to a request, call `route`. To see what an edit changed, call `diff`. \
    Paths are relative to the folder of this server. All tools only read.";

#[derive(Clone)]
pub struct Server {
    folders: Arc<Folders>,
}

/// The severity of findings.
#[derive(Clone, Copy, Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Least {
    Error,
    #[default]
    Warning,
    Notice,
}

#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
struct CheckParams {
    /// A file or folder, relative to the folder of the server. By default the whole folder.
    path: Option<String>,
    /// The least severity to report. By default `warning`.
    #[serde(default)]
    severity: Least,
    /// Only findings of this code, such as `no-such-port`.
    code: Option<String>,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct ExplainParams {
    /// A file or folder, relative to the folder of the server. By default the whole folder.
    path: Option<String>,
    /// `FILE:LINE` for what a line makes; a JSON pointer or words such as `route/timeout` for what makes a value of the configuration.
    target: String,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct RouteParams {
    /// A file or folder, relative to the folder of the server. By default the whole folder.
    path: Option<String>,
    /// The URL of the request, such as `https://shop.example.com/cart`.
    url: String,
    /// The method. By default GET.
    #[serde(default)]
    method: String,
    /// Headers by name.
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
struct DiffParams {
    /// A file or folder, relative to the folder of the server. By default the whole folder.
    path: Option<String>,
    /// The revision of git to compare with. By default HEAD.
    revision: Option<String>,
}

#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
struct LedgerParams {
    /// A file or folder, relative to the folder of the server. By default the whole folder.
    path: Option<String>,
    /// Only objects of this kind, such as `Mapping`.
    kind: Option<String>,
    /// Only objects of this name.
    name: Option<String>,
}

#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
struct GraphParams {
    /// A file or folder, relative to the folder of the server. By default the whole folder.
    path: Option<String>,
    /// Only the objects that refer to this object, and everything that it refers to: `Mapping/quote`, `quote`.
    from: Option<String>,
    /// At most this many edges away from `from`.
    depth: Option<u32>,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct CodeParams {
    /// The code of a finding, such as `no-such-port`.
    code: String,
}

fn answer(result: Result<String, String>) -> CallToolResult {
    match result {
        Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
    }
}

impl Server {
    pub fn new(folders: Folders) -> Self {
        Self { folders: Arc::new(folders) }
    }

    fn compiled(&self, path: Option<&str>) -> Result<Compiled, String> {
        self.folders.compile(path)
    }
}

#[tool_router]
impl Server {
    /// Lists problems of gateway resources, each with file, line, code and help.
    #[tool(annotations(read_only_hint = true))]
    async fn check(&self, Parameters(asked): Parameters<CheckParams>) -> CallToolResult {
        let least = match asked.severity {
            Least::Error => Severity::Error,
            Least::Warning => Severity::Warning,
            Least::Notice => Severity::Notice,
        };
        answer(self.compiled(asked.path.as_deref()).map(|of| answers::check(&of, least, asked.code.as_deref())))
    }

    /// Explains what a line of YAML makes in the gateway's configuration, or which lines make a value of it.
    #[tool(annotations(read_only_hint = true))]
    async fn explain(&self, Parameters(asked): Parameters<ExplainParams>) -> CallToolResult {
        answer(self.compiled(asked.path.as_deref()).and_then(|mut of| answers::explain(&mut of, &asked.target)))
    }

    /// Simulates a request: which upstream receives it, and which lines decide that.
    #[tool(annotations(read_only_hint = true))]
    async fn route(&self, Parameters(asked): Parameters<RouteParams>) -> CallToolResult {
        let request =
            WrittenRequest { method: asked.method, url: asked.url, headers: asked.headers.into_iter().collect(), ..WrittenRequest::default() };
        answer(self.compiled(asked.path.as_deref()).and_then(|mut of| answers::route(&mut of, &request)))
    }

    /// Compares the folder with a revision of git: changed resources, changed gateway configuration, and requests that are treated differently.
    #[tool(annotations(read_only_hint = true))]
    async fn diff(&self, Parameters(asked): Parameters<DiffParams>) -> CallToolResult {
        let revision = asked.revision.unwrap_or_else(|| "HEAD".into());
        answer(self.compiled(asked.path.as_deref()).and_then(|mut now| {
            let mut before = self.folders.compile_revision(&now, &revision)?;
            Ok(answers::diff(&mut before, &mut now, &revision))
        }))
    }

    /// Shows what happened to every resource: emitted, merged, read, shadowed, ignored or invalid, and why.
    #[tool(annotations(read_only_hint = true))]
    async fn ledger(&self, Parameters(asked): Parameters<LedgerParams>) -> CallToolResult {
        answer(self.compiled(asked.path.as_deref()).map(|of| answers::ledger_of(&of, asked.kind.as_deref(), asked.name.as_deref())))
    }

    /// Shows the references between objects, and the parts of the gateway that they make.
    #[tool(annotations(read_only_hint = true))]
    async fn graph(&self, Parameters(asked): Parameters<GraphParams>) -> CallToolResult {
        answer(self.compiled(asked.path.as_deref()).and_then(|of| answers::graph_of(&of, asked.from.as_deref(), asked.depth)))
    }

    /// Returns the documentation of a finding's code: what it means, an example, and how to fix it.
    #[tool(annotations(read_only_hint = true))]
    async fn code(&self, Parameters(asked): Parameters<CodeParams>) -> CallToolResult {
        let page = dialect::code(&asked.code).map(|code| code.page.to_string());
        answer(page.map(|page| answers::bounded(page, "")).ok_or_else(|| {
            let near = nearest(&asked.code, dialect::codes().map(|code| code.name)).map(|near| format!("; did you mean `{near}`?"));
            format!("there is no code `{}`{}", asked.code, near.unwrap_or_default())
        }))
    }
}

#[tool_handler]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let mut config = ServerConfig::new(capabilities).with_instructions(INSTRUCTIONS);
        config.server_info.name = "chancery".into();
        config.server_info.version = env!("CARGO_PKG_VERSION").into();
        config
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = |guide: &guides::Guide| {
            let mut resource = Resource::new(guide.uri(), guide.name);
            resource.title = Some(guide.title().into());
            resource.mime_type = Some("text/markdown".into());
            resource
        };
        Ok(ListResourcesResult::with_all_items(guides::ALL.iter().map(resource).collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match guides::ALL.iter().find(|guide| guide.uri() == request.uri) {
            Some(guide) => Ok(ReadResourceResult::new(vec![ResourceContents::text(guide.text, guide.uri())]).into()),
            None => Err(ErrorData::resource_not_found(format!("there is no guide {}", request.uri), None)),
        }
    }
}
