//! Measures how long it takes to place a gateway's boxes.

use chancery_core::explain::layout::{Item, Layout, Link, Spacing, layout};

fn main() {
    divan::main();
}

/// Returns about this many boxes in the columns of a gateway: two listeners, hosts, Mappings with a route each, clusters, addresses.
fn gateway(count: usize) -> (Vec<Item>, Vec<Link>) {
    let columns = [2, count / 100 + 1, count * 3 / 10, count * 4 / 10, count * 3 / 20, count * 3 / 20];
    let (mut links, mut start, mut seed) = (Vec::new(), 0, 7u64);
    for pair in columns.windows(2) {
        for to in 0..pair[1] {
            links.push(Link { from: start + to * pair[0] / pair[1], to: start + pair[0] + to });
            if to % 4 == 0 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                links.push(Link { from: start + (seed >> 33) as usize % pair[0], to: start + pair[0] + to });
            }
        }
        start += pair[0];
    }
    // Add long links too, from a listener or host to distant columns.
    links.extend((0..count / 20).map(|at| Link { from: at % 2, to: count - 1 - at * 3 }));
    (vec![Item { width: 200, height: 24, ..Item::default() }; columns.iter().sum()], links)
}

#[divan::bench(args = [100, 2_000, 50_000])]
fn boxes(bencher: divan::Bencher, count: usize) {
    bencher.with_inputs(|| gateway(count)).bench_values(|(items, links)| -> Layout { layout(&items, &links, &Spacing::default()) });
}
