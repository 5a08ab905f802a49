//! Measures the cost of a Consul cluster: all proxies from scratch, and an edit of one service.
//!
//! Does not measure other dialects; see `main`.

use chancery_core::backend::envoy::v3::encode;
use chancery_core::compilation::{Compilation, Options};
use chancery_core::compile::Compiler;
use chancery_core::dialect;
use chancery_core::ir::SecretReference;
use chancery_core::resource::Inputs;
use chancery_tests::generate::mesh;
use chancery_tests::threads::Threads;
use chancery_tests::work::{inputs, options};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The measured times.
pub struct Figures {
    /// From text to the bytes of all proxies, without remembered results.
    pub scratch: Duration,
    /// The same after an edit of a service in the middle.
    pub edited: Duration,
    /// The number of proxies that the edit rebuilt.
    pub touched: usize,
}

fn work(compiler: &mut Compiler, inputs: &Inputs, options: &Options) -> (Compilation, Duration) {
    let start = Instant::now();
    let compilation = compiler.compile(inputs, options);
    let mut bytes = 0;
    for gateway in compilation.gateways() {
        let lookup = |reference: &SecretReference| gateway.of().key_material(reference);
        let encoding = encode(gateway.ir, Some(&lookup), compiler.emitted.of(gateway));
        bytes += encoding.served.iter().map(|of| of.resource.value.len()).sum::<usize>();
    }
    assert!(bytes > 0, "something is served");
    (compilation, start.elapsed())
}

/// Measures a cluster of this many services. The first `proxies` of them have sidecars.
pub fn measure(services: usize, proxies: usize, runs: usize) -> Figures {
    let documents = mesh(services, proxies, 7);
    // Each document is a separate input, as an agent sends it.
    let named: Vec<(String, String)> = documents.iter().enumerate().map(|(at, text)| (format!("consul/{at}"), text.clone())).collect();
    let of = |named: &[(String, String)]| inputs(named.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    let before = of(&named);
    let new = || Compiler::new(dialect::ALL).with_executor(&Threads);
    let scratch = (0..runs).map(|_| work(&mut new(), &before, &Options::default()).1).min().unwrap_or_default();
    // `serve` compiles like this: without assumed resources.
    let options = options("missing=error").expect("an option");
    let mut compiler = new();
    let (mut known, _) = work(&mut compiler, &before, &options);
    let (mut edited, mut touched) = (Duration::MAX, 0);
    for round in 0..runs {
        let mut named = named.clone();
        let at = documents.len() - services + proxies / 2 + round;
        named[at].1 = named[at].1.replacen("address: 10.", "address: 10.9", 1);
        let (after, took) = work(&mut compiler, &of(&named), &options);
        let same = known.gateways().zip(after.gateways()).filter(|(a, b)| Arc::ptr_eq(a.ir, b.ir)).count();
        edited = edited.min(took);
        touched = touched.max(after.gateways().count() - same);
        known = work(&mut compiler, &before, &options).0;
    }
    Figures { scratch, edited, touched }
}
