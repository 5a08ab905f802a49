//! `chancery watches`: shows each proxy's watches, their parents, their results, and missing answers.
//!
//! Does not determine the watches; see the dialect's output.

use crate::args::{Deployment, Format, WatchesArgs};
use crate::output::{print, print_json};
use crate::style::{Style, plain};
use crate::{Outcome, Unusable, input};
use chancery_core::compilation::SideRef;
use chancery_core::dialect;
use chancery_core::text::{Node, Value, to_json};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The output of dialects whose proxies have watches.
const OUTPUT: &str = "watches";

/// A watch in the dialect's format.
#[derive(Deserialize, Serialize)]
struct Watch {
    watch: String,
    /// The watch whose reply requested this watch.
    because: Option<String>,
    brings: String,
    complete: bool,
}

/// The watches of a proxy.
#[derive(Serialize)]
struct Watches {
    proxy: String,
    /// Whether every watch returned enough to continue.
    complete: bool,
    watches: Vec<Watch>,
}

/// Runs it.
pub fn run(args: &WatchesArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let (_, compilation) = input::compile(&args.inputs.inputs, deployment)?;
    let documents = compilation.sides().filter_map(|side| {
        let output = side.side.dialect.outputs.iter().find(|output| output.name == OUTPUT)?;
        Some((side, (output.document)(side)))
    });
    let documents: Vec<(SideRef<'_>, Option<Node>)> = documents.collect();
    if documents.is_empty() {
        return Err(nothing_watches());
    }
    let mut all = Vec::new();
    for (side, document) in documents {
        all.extend(document.map(|document| of_side(side, document)).transpose()?.into_iter().flatten());
    }
    match args.format {
        Format::Json => print_json(&serde_json::json!({ "proxies": all }))?,
        Format::Human if all.is_empty() => print("The input registers no proxy: nothing is watched.\n")?,
        Format::Human => {
            let parts: Vec<String> = all.iter().map(|proxy| part(proxy, style)).collect();
            print(&parts.join("\n"))?;
        }
    }
    Ok(0)
}

fn nothing_watches() -> Unusable {
    let with = dialect::ALL.iter().filter(|dialect| dialect.outputs.iter().any(|output| output.name == OUTPUT));
    let with: Vec<&str> = with.map(|dialect| dialect.name).collect();
    format!("the proxies of this input have no watches; proxies of {} have them", with.join(", ")).into()
}

/// The document of one proxy is its watches. The document of several proxies is an object by id.
fn of_side(side: SideRef<'_>, document: Node) -> Result<Vec<Watches>, Unusable> {
    let by_proxy = match document.value {
        Value::Object(object) => object.into_iter().map(|entry| (entry.key.to_string(), entry.value)).collect(),
        _ => side.gateways().take(1).map(|gateway| (gateway.id.to_string(), document.clone())).collect::<Vec<_>>(),
    };
    let proxies = by_proxy.into_iter().map(|(proxy, node)| {
        let watches: Vec<Watch> = serde_json::from_str(&to_json(&node, false)).map_err(|error| error.to_string())?;
        Ok(Watches { proxy, complete: watches.iter().all(|watch| watch.complete), watches })
    });
    proxies.collect()
}

fn part(proxy: &Watches, style: &Style) -> String {
    let missing = proxy.watches.iter().filter(|watch| !watch.complete).count();
    let state = if missing == 0 {
        style.green("complete")
    } else {
        style.yellow(match missing {
            1 => "1 watch has no result".to_owned(),
            many => format!("{many} watches have no result"),
        })
    };
    let mut out = format!("{}  {state}\n", style.heading(plain(&proxy.proxy)));
    for watch in proxy.watches.iter().filter(|watch| watch.because.is_none()) {
        rows(proxy, watch, 1, &mut out, style);
    }
    out
}

/// Shows a watch, and below it the watches that its reply requested.
fn rows(proxy: &Watches, watch: &Watch, depth: usize, out: &mut String, style: &Style) {
    let brings = plain(&watch.brings).into_owned();
    let brings = if watch.complete { style.dim(brings) } else { style.yellow(format!("{brings}  (missing)")) };
    let _ = writeln!(out, "{}{}: {brings}", "  ".repeat(depth), plain(&watch.watch));
    for next in proxy.watches.iter().filter(|next| next.because.as_ref() == Some(&watch.watch)) {
        rows(proxy, next, depth + 1, out, style);
    }
}
