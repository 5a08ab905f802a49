//! `chancery play`: serves the playground from this program, on loopback.
//!
//! Does not build the page or choose its content; see `web/` and `cargo xtask binary`.

mod serve;

use crate::Outcome;
use crate::args::PlayArgs;
use chancery_live::http::playground::Files;
use std::borrow::Cow;
use std::sync::Arc;

/// The files of the page by name: none, unless the program was built with them.
mod page {
    #[cfg(feature = "playground")]
    include!(concat!(env!("OUT_DIR"), "/page.rs"));

    #[cfg(not(feature = "playground"))]
    pub static FILES: &[(&str, &[u8])] = &[];
}

/// The files of the page by name, if this program was built with them.
pub fn page() -> Option<Files> {
    (!page::FILES.is_empty()).then_some(|path| page::FILES.iter().find(|(name, _)| *name == path).map(|(_, bytes)| *bytes))
}

/// Serves until it is stopped.
pub fn run(args: &PlayArgs) -> Outcome {
    if page::FILES.is_empty() {
        return Err("this chancery was built without the playground; in its source, `cargo xtask play` serves it, and `cargo xtask binary` builds one file that contains it".into());
    }
    let listener = serve::bind(args.port).map_err(|error| format!("cannot listen on loopback: {error}"))?;
    let address = listener.local_addr().map_err(|error| format!("cannot listen on loopback: {error}"))?;
    println!("The playground is at  http://{address}/");
    println!("Nothing that you type there leaves this machine. Ctrl C ends it.");
    let file = |path: &str| page::FILES.iter().find(|(name, _)| *name == path).map(|(_, bytes)| Cow::Borrowed(*bytes));
    serve::serve(&listener, Arc::new(file));
    Ok(0)
}
