//! The names that prost-build chooses. Parses its output, so that our code uses the same names, boxes and variants.

use std::collections::BTreeMap;

use prost_build::Module;
use syn::{Item, Type};

use crate::closure::Closure;

/// Fields in a `Box`: large, often absent, and part of a message that a gateway has many of.
const BOXED: [&str; 17] = [
    ".envoy.config.route.v3.Route.action.direct_response",
    ".envoy.config.route.v3.Route.action.redirect",
    ".envoy.config.route.v3.Route.action.route",
    ".envoy.config.route.v3.Route.metadata",
    ".envoy.config.route.v3.Route.tracing",
    ".envoy.config.route.v3.RouteAction.cors",
    ".envoy.config.route.v3.RouteAction.early_data_policy",
    ".envoy.config.route.v3.RouteAction.internal_redirect_policy",
    ".envoy.config.route.v3.RouteAction.max_stream_duration",
    ".envoy.config.route.v3.RouteAction.metadata_match",
    ".envoy.config.route.v3.RouteAction.path_rewrite_policy",
    ".envoy.config.route.v3.RouteAction.regex_rewrite",
    ".envoy.config.route.v3.RouteAction.retry_policy",
    ".envoy.config.route.v3.RouteAction.retry_policy_typed_config",
    ".envoy.config.route.v3.VirtualHost.cors",
    ".envoy.config.route.v3.VirtualHost.matcher",
    ".envoy.config.route.v3.VirtualHost.retry_policy",
];

/// One proto package as prost-build writes it.
pub struct RustModule {
    /// prost-build's text.
    pub code: String,
    /// Its messages by full proto name.
    pub messages: BTreeMap<String, RustMessage>,
}

/// A struct.
#[derive(Default)]
pub struct RustMessage {
    /// Path within the package's module, such as `route_match::PathSeparated`.
    pub path: String,
    /// Fields by proto number.
    pub fields: BTreeMap<u32, RustField>,
}

/// A field of a struct, or a variant of one of its oneofs.
#[derive(Clone)]
pub struct RustField {
    /// The struct's field.
    pub ident: String,
    /// Whether the message is in a `Box`.
    pub boxed: bool,
    /// Path of the variant within the package's module, for a member of a oneof.
    pub variant: Option<String>,
}

/// Runs prost-build and returns the modules by package.
pub fn build(closure: &Closure) -> Result<BTreeMap<String, RustModule>, String> {
    let mut config = prost_build::Config::new();
    config
        .btree_map(["."])
        .disable_comments(["."])
        .enable_type_names()
        .type_name_domain(["."], "type.googleapis.com")
        .extern_path(".google.protobuf.Any", "crate::Any");
    for path in BOXED {
        config.boxed(path);
    }
    let requests = closure.set.file.iter().map(|file| (Module::from_protobuf_package_name(file.package()), file.clone())).collect();
    let packages: BTreeMap<Module, String> =
        closure.set.file.iter().map(|file| (Module::from_protobuf_package_name(file.package()), file.package().to_owned())).collect();
    let mut modules = BTreeMap::new();
    for (module, code) in config.generate(requests).map_err(|e| e.to_string())? {
        let package = packages[&module].clone();
        if package == "google.protobuf" {
            continue;
        }
        // Any has neither Eq nor Hash, and no code hashes a configuration.
        let code =
            ["Message", "Oneof"].iter().fold(code, |code, of| code.replace(&format!(", Eq, Hash, ::prost::{of})"), &format!(", ::prost::{of})")));
        // Debug is the JSON, without secrets; `emit` writes it.
        let code = code.replace("::prost::Message)]\n", "::prost::Message)]\n#[prost(skip_debug)]\n");
        let file = syn::parse_file(&code).map_err(|e| format!("{package}: {e}"))?;
        let mut parse = Parse::default();
        parse.items("", &file.items);
        modules.insert(package, RustModule { code, messages: parse.finish() });
    }
    Ok(modules)
}

/// The results of reading one module so far.
#[derive(Default)]
struct Parse {
    names: BTreeMap<String, String>,
    structs: BTreeMap<String, Vec<(String, bool, Tags)>>,
    variants: BTreeMap<(String, u32), (String, bool)>,
}

/// The contents of a field's `#[prost(..)]` attribute.
enum Tags {
    Plain(u32),
    Oneof { path: String, tags: Vec<u32> },
}

impl Parse {
    fn items(&mut self, scope: &str, items: &[Item]) {
        for item in items {
            match item {
                Item::Mod(m) => {
                    if let Some((_, items)) = &m.content {
                        self.items(&format!("{scope}{}::", m.ident), items);
                    }
                }
                Item::Struct(s) => {
                    let fields = s.fields.iter().filter_map(|f| {
                        let attr = prost_attribute(&f.attrs)?;
                        let ident = f.ident.as_ref()?.to_string();
                        Some((ident, attr.contains("boxed") || is_box(&f.ty), tags(&attr)?))
                    });
                    self.structs.insert(format!("{scope}{}", s.ident), fields.collect());
                }
                Item::Enum(e) => {
                    for variant in &e.variants {
                        let Some(Tags::Plain(tag)) = prost_attribute(&variant.attrs).and_then(|a| tags(&a)) else {
                            continue;
                        };
                        let boxed = variant.fields.iter().any(|f| is_box(&f.ty));
                        let path = format!("{scope}{}", e.ident);
                        self.variants.insert((path.clone(), tag), (format!("{path}::{}", variant.ident), boxed));
                    }
                }
                Item::Impl(i) => {
                    let Type::Path(of) = &*i.self_ty else {
                        continue;
                    };
                    let Some(of) = of.path.get_ident() else {
                        continue;
                    };
                    // `fn full_name() -> String { "a.b.C".into() }`
                    let full_name = i.items.iter().find_map(|item| match item {
                        syn::ImplItem::Fn(f) if f.sig.ident == "full_name" => match f.block.stmts.first() {
                            Some(syn::Stmt::Expr(syn::Expr::MethodCall(call), _)) => string_literal(&call.receiver),
                            _ => None,
                        },
                        _ => None,
                    });
                    if let Some(name) = full_name {
                        self.names.insert(name, format!("{scope}{of}"));
                    }
                }
                _ => {}
            }
        }
    }

    fn finish(self) -> BTreeMap<String, RustMessage> {
        let mut messages = BTreeMap::new();
        for (name, path) in self.names {
            let scope = path.rsplit_once("::").map_or(String::new(), |(scope, _)| format!("{scope}::"));
            let mut message = RustMessage { path: path.clone(), ..RustMessage::default() };
            for (ident, boxed, tags) in self.structs.get(&path).into_iter().flatten() {
                match tags {
                    Tags::Plain(tag) => {
                        let field = RustField { ident: ident.clone(), boxed: *boxed, variant: None };
                        message.fields.insert(*tag, field);
                    }
                    Tags::Oneof { path: of, tags } => {
                        for tag in tags {
                            let (variant, boxed) = &self.variants[&(format!("{scope}{of}"), *tag)];
                            let field = RustField { ident: ident.clone(), boxed: *boxed, variant: Some(variant.clone()) };
                            message.fields.insert(*tag, field);
                        }
                    }
                }
            }
            messages.insert(name, message);
        }
        messages
    }
}

fn prost_attribute(attrs: &[syn::Attribute]) -> Option<String> {
    let attr = attrs.iter().find(|a| a.path().is_ident("prost"))?;
    Some(attr.meta.require_list().ok()?.tokens.to_string())
}

fn tags(attribute: &str) -> Option<Tags> {
    let quoted = |key: &str| {
        let rest = &attribute[attribute.find(&format!("{key} = \""))? + key.len() + 4..];
        Some(rest[..rest.find('"')?].to_owned())
    };
    if let Some(path) = quoted("oneof") {
        let tags = quoted("tags")?.split(',').filter_map(|t| t.trim().parse().ok()).collect();
        return Some(Tags::Oneof { path, tags });
    }
    Some(Tags::Plain(quoted("tag")?.parse().ok()?))
}

fn is_box(ty: &Type) -> bool {
    matches!(ty, Type::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "Box"))
}

fn string_literal(expr: &syn::Expr) -> Option<String> {
    match expr {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(s), .. }) => Some(s.value()),
        _ => None,
    }
}
