//! Generates a Consul cluster of any size: services, sidecars for the first of them, and config entries for some.
//!
//! Does not measure; see `bench`.

use crate::chance::Chance;
use std::fmt::Write as _;

/// The number of upstreams of a sidecar.
const UPSTREAMS: usize = 3;

/// Generates defaults for all proxies, config entries for some services, and this many services. The first `proxies` of them have sidecars that
/// call others.
pub fn mesh(services: usize, proxies: usize, seed: u64) -> Vec<String> {
    let mut chance = Chance::new(seed ^ services as u64);
    let mut documents = vec!["---\nKind: proxy-defaults\nName: global\nConfig: {connect_timeout_ms: 5000}\n".to_owned()];
    for number in (0..services).step_by(10) {
        documents.push(format!("---\nKind: service-defaults\nName: item-{number}\nProtocol: http\n"));
        match number / 10 % 4 {
            0 => documents.push(format!(
                "---\nKind: service-router\nName: item-{number}\nRoutes:\n- Match: {{HTTP: {{PathPrefix: /v{number}}}}}\n  Destination: \
                 {{RequestTimeout: {}s, NumRetries: 2}}\n",
                1 + chance.below(30)
            )),
            1 => documents.push(format!("---\nKind: service-resolver\nName: item-{number}\nConnectTimeout: {}s\n", 1 + chance.below(9))),
            2 => documents.push(format!(
                "---\nKind: service-intentions\nName: item-{number}\nSources:\n- {{Name: item-{}, Action: allow}}\n- {{Name: '*', Action: deny}}\n",
                chance.below(services)
            )),
            _ => {}
        }
    }
    for number in 0..services {
        let mut text = format!(
            "---\nservice:\n  name: item-{number}\n  id: item-{number}\n  port: {}\n  address: 10.{}.{}.{}\n  meta: {{version: \"{}\"}}\n",
            1024 + number % 20_000,
            number >> 16 & 255,
            number >> 8 & 255,
            number & 255,
            chance.below(5)
        );
        if number < proxies {
            let _ = writeln!(text, "  connect:\n    sidecar_service:\n      port: {}\n      proxy:\n        upstreams:", 30_000 + number);
            for upstream in 0..UPSTREAMS {
                let other = chance.below(services);
                let _ = writeln!(text, "        - {{destination_name: item-{other}, local_bind_port: {}}}", 9000 + upstream);
            }
        }
        documents.push(text);
    }
    documents
}
