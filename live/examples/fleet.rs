//! Simulates a fleet far past one machine: `fleet FIGURES.json OUT.md [ENVOYS GATEWAYS]`.
//!
//! Simulates 100,000 Envoys of 1,000 gateways of different sizes, and replicas of `chancery serve` that share the gateways by rendezvous hashing. Each
//! replica watches and compiles all of Kubernetes, and builds the Envoy configuration of the gateways that it owns. The costs of an Envoy, an edit and a join come from `bench_live` on this machine; [`Assumed`] contains the other
//! assumptions. A generator with a seed draws the numbers, so the same figures give the same page. Does not measure; see `bench_live`.

use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;

/// What no measurement here says.
struct Assumed {
    /// Cores and memory of one replica.
    cores: f64,
    memory_mib: f64,
    /// Routes of each gateway.
    routes: f64,
    /// The share of a route's memory, and of its time in a build, that a replica needs for gateways of other replicas: it compiles them.
    other_memory: f64,
    other_time: f64,
    /// Edits of any gateway, in a second.
    edits_a_second: f64,
    /// Changes of endpoints of any gateway, in a second.
    endpoints_a_second: f64,
    /// Kinds that each replica watches.
    kinds: f64,
    /// Watches that the API server serves at most, and events that it sends in a second, of all watches.
    most_watches: f64,
    most_events: f64,
    /// An Envoy that lost its stream tries again after up to this many seconds at first, and at most after up to this many.
    first_retry: f64,
    longest_retry: f64,
}

const ASSUMED: Assumed = Assumed {
    cores: 2.0,
    memory_mib: 4096.0,
    routes: 100.0,
    other_memory: 0.77,
    other_time: 0.3,
    edits_a_second: 10.0,
    endpoints_a_second: 200.0,
    kinds: 40.0,
    most_watches: 10_000.0,
    most_events: 20_000.0,
    first_retry: 0.2,
    longest_retry: 1.0,
};

/// What was measured, as a model: straight lines through the figures.
struct Model {
    /// Memory of a replica: of itself, of each stream, of each route, in MiB.
    base_mib: f64,
    stream_mib: f64,
    route_mib: f64,
    /// Time on one core, in milliseconds: of a build, and of it by each route; to deliver an edit to one Envoy; of an Envoy that joins.
    build_ms: f64,
    build_route_ms: f64,
    delivery_ms: f64,
    join_ms: f64,
}

/// The line of least squares: where it begins and how it rises.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len().max(1) as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let above: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let below: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let rise = if below > 0.0 { (above / below).max(0.0) } else { 0.0 };
    ((y - rise * x).max(0.0), rise)
}

impl Model {
    fn fit(figures: &[Value]) -> Self {
        let number = |of: &Value, key: &str| of[key].as_f64().unwrap_or_default();
        let points = |filter: &dyn Fn(&Value) -> bool, x: &str, y: &str| -> Vec<(f64, f64)> {
            figures.iter().filter(|of| filter(of)).map(|of| (number(of, x), number(of, y))).collect()
        };
        let is_small = |of: &Value| of["edit"] == "a cluster";
        let (base, route_mib) = line(&points(&is_small, "mappings", "alone_mib"));
        let by_stream: Vec<(f64, f64)> =
            figures.iter().filter(|of| is_small(of)).map(|of| (number(of, "streams"), number(of, "peak_mib") - number(of, "alone_mib"))).collect();
        let (_, stream_mib) = line(&by_stream);
        let (build_ms, build_route_ms) = line(&points(&is_small, "mappings", "build_ms"));
        let mean = |key: &str, filter: &dyn Fn(&Value) -> bool| {
            let all: Vec<f64> = figures.iter().filter(|of| filter(of)).map(|of| number(of, key)).collect();
            all.iter().sum::<f64>() / all.len().max(1) as f64
        };
        let is_fleet = |of: &Value| number(of, "streams") >= 1000.0 && number(of, "mappings") <= 100.0;
        Self {
            base_mib: base,
            stream_mib,
            route_mib,
            build_ms,
            build_route_ms,
            delivery_ms: mean("cpu_ms_a_delivery", &is_fleet),
            join_ms: mean("cpu_ms_a_join", &is_fleet),
        }
    }
}

/// A generator of numbers from 0 to 1, always the same.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The replica of a gateway among those that live: the one with the highest hash of both.
fn replica_of(gateway: usize, alive: &[bool]) -> usize {
    let hash = |replica: usize| {
        let mut at = (gateway as u64) << 32 | replica as u64;
        at ^= at >> 33;
        at = at.wrapping_mul(0xff51_afd7_ed55_8ccd);
        at ^= at >> 33;
        at = at.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        at ^ at >> 33
    };
    (0..alive.len()).filter(|replica| alive[*replica]).max_by_key(|replica| hash(*replica)).unwrap_or_default()
}

/// What a fleet needs with this number of replicas.
struct Outcome {
    replicas: usize,
    most_envoys: usize,
    most_memory: f64,
    /// The share of its cores that the busiest replica uses.
    busiest: f64,
    /// Of edits, until the last Envoy has them, in milliseconds.
    p99_ms: f64,
    watches: f64,
    events: f64,
    /// After the busiest replica crashes: seconds until all its Envoys are served again, and the largest memory of the others.
    recovery_s: f64,
    recovery_memory: f64,
}

struct Fleet {
    /// Envoys of each gateway.
    sizes: Vec<usize>,
}

impl Fleet {
    /// Realistic sizes: a few large, many small.
    fn new(envoys: usize, gateways: usize) -> Self {
        let weights: Vec<f64> = (1..=gateways).map(|rank| 1.0 / (rank as f64).sqrt()).collect();
        let sum: f64 = weights.iter().sum();
        let mut sizes: Vec<usize> = weights.iter().map(|weight| ((weight / sum * envoys as f64) as usize).max(1)).collect();
        let missing = envoys.saturating_sub(sizes.iter().sum());
        (0..missing).for_each(|at| sizes[at % gateways] += 1);
        Self { sizes }
    }

    fn loads(&self, alive: &[bool]) -> Vec<(usize, usize)> {
        let mut out = vec![(0, 0); alive.len()];
        for (gateway, size) in self.sizes.iter().enumerate() {
            let of = &mut out[replica_of(gateway, alive)];
            *of = (of.0 + 1, of.1 + size);
        }
        out
    }

    fn run(&self, replicas: usize, model: &Model) -> Outcome {
        let alive = vec![true; replicas];
        let loads = self.loads(&alive);
        let memory = |(gateways, envoys): (usize, usize)| {
            // Every replica holds all compiled inputs, and the Envoy configuration of the gateways that it serves.
            model.base_mib + model.route_mib * self.routes(gateways, ASSUMED.other_memory) + model.stream_mib * envoys as f64
        };
        let (busy, waits) = self.edits(model, &alive);
        let busiest = (0..replicas).max_by_key(|replica| loads[*replica].1).unwrap_or_default();
        let (recovery_s, recovery_memory) = self.without(busiest, replicas, model, &memory);
        let most = |of: &dyn Fn(usize) -> f64| (0..replicas).map(of).fold(0.0, f64::max);
        Outcome {
            replicas,
            most_envoys: loads.iter().map(|load| load.1).max().unwrap_or_default(),
            most_memory: most(&|replica| memory(loads[replica])),
            busiest: most(&|replica| busy[replica]),
            p99_ms: waits[(waits.len() - 1) * 99 / 100],
            watches: ASSUMED.kinds * replicas as f64,
            events: (ASSUMED.edits_a_second + ASSUMED.endpoints_a_second) * replicas as f64,
            recovery_s,
            recovery_memory,
        }
    }

    /// The routes that cost a replica with this number of gateways as much as its own routes and the others.
    fn routes(&self, gateways: usize, share_of_others: f64) -> f64 {
        ASSUMED.routes * (gateways as f64 + share_of_others * (self.sizes.len() - gateways) as f64)
    }

    /// The share of its cores that each replica uses, and how long changes take until the last Envoy has them, sorted. Simulates a minute.
    /// Each replica builds without a pause as long as there are changes, and one build contains all changes that came meanwhile.
    fn edits(&self, model: &Model, alive: &[bool]) -> (Vec<f64>, Vec<f64>) {
        const MINUTE: f64 = 60_000.0;
        let mut chance = Chance(7);
        let rate = ASSUMED.edits_a_second + ASSUMED.endpoints_a_second;
        let (mut now, mut changes) = (0.0, Vec::new());
        while now < MINUTE {
            now += -(1.0 - chance.next()).ln() / rate * 1000.0;
            changes.push((now, (chance.next() * self.sizes.len() as f64) as usize % self.sizes.len()));
        }
        let (mut busy, mut waits) = (Vec::new(), Vec::new());
        for (replica, (gateways, _)) in self.loads(alive).into_iter().enumerate() {
            let build = model.build_ms + model.build_route_ms * self.routes(gateways, ASSUMED.other_time);
            let (mut free, mut used, mut rest) = (0.0f64, 0.0, &changes[..]);
            while let Some((first, _)) = rest.first() {
                let begin = free.max(*first);
                let (batch, later) = rest.split_at(rest.iter().take_while(|(at, _)| *at <= begin).count());
                rest = later;
                let own: Vec<_> = batch.iter().filter(|(_, gateway)| replica_of(*gateway, alive) == replica).collect();
                let delivery: f64 = own.iter().map(|(_, gateway)| model.delivery_ms * self.sizes[*gateway] as f64).sum();
                used += build + delivery;
                free = begin + build;
                waits.extend(own.iter().map(|(at, _)| free + delivery / ASSUMED.cores - at));
            }
            busy.push(used / MINUTE / ASSUMED.cores);
        }
        waits.sort_by(f64::total_cmp);
        (busy, waits)
    }

    /// One replica crashes: its Envoys try again, each after its own pause, which doubles as long as all replicas are busy.
    fn without(&self, crashed: usize, replicas: usize, model: &Model, memory: &dyn Fn((usize, usize)) -> f64) -> (f64, f64) {
        if replicas == 1 {
            return (f64::INFINITY, 0.0);
        }
        let mut alive = vec![true; replicas];
        let mut moved: Vec<(usize, usize)> = Vec::new();
        let lost: Vec<usize> = (0..self.sizes.len()).filter(|gateway| replica_of(*gateway, &alive) == crashed).collect();
        alive[crashed] = false;
        for gateway in lost {
            moved.push((gateway, replica_of(gateway, &alive)));
        }
        let mut chance = Chance(11);
        // When each tries, in microseconds, and how often it tried.
        let mut tries: BinaryHeap<Reverse<(u64, u32, usize)>> = BinaryHeap::new();
        for (gateway, replica) in moved {
            for _ in 0..self.sizes[gateway] {
                tries.push(Reverse(((chance.next() * ASSUMED.first_retry * 1e6) as u64, 0, replica)));
            }
        }
        let mut free = vec![0.0f64; replicas];
        let mut last = 0.0f64;
        while let Some(Reverse((at, tried, replica))) = tries.pop() {
            let now = at as f64 / 1e6;
            // An Envoy that would wait for more than five seconds stops, and tries again.
            if free[replica] - now > 5.0 {
                let pause = (ASSUMED.first_retry * f64::from(1u32 << tried.min(10))).min(ASSUMED.longest_retry);
                tries.push(Reverse((at + (chance.next() * pause * 1e6) as u64 + 1, tried + 1, replica)));
                continue;
            }
            free[replica] = free[replica].max(now) + model.join_ms / 1000.0 / ASSUMED.cores;
            last = last.max(free[replica]);
        }
        let after = self.loads(&alive).into_iter().map(memory).fold(0.0, f64::max);
        (last, after)
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [figures, out, rest @ ..] = &args[..] else {
        eprintln!("usage: fleet FIGURES.json OUT.md [ENVOYS GATEWAYS]");
        std::process::exit(2);
    };
    let text = std::fs::read_to_string(figures).expect("the figures of bench_live");
    let figures: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let count = |at: usize, usual: usize| rest.get(at).map_or(usual, |text| text.parse().expect("a number"));
    let (envoys, gateways) = (count(0, 100_000), count(1, 1_000));
    let (model, fleet) = (Model::fit(&figures), Fleet::new(envoys, gateways));
    let page = page(&model, &fleet, envoys, gateways);
    println!("{page}");
    std::fs::write(out, page).expect("the page");
}

fn page(model: &Model, fleet: &Fleet, envoys: usize, gateways: usize) -> String {
    let Model { base_mib, stream_mib, route_mib, build_ms, build_route_ms, delivery_ms, join_ms } = model;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "The model: a replica has {base_mib:.0} MiB, {:.1} KiB for each route and {:.0} KiB for each stream. On one core a build takes {build_ms:.1} ms and {:.2} ms for each 1,000 routes of its input, an edit {:.0} µs for each Envoy that gets it, and an Envoy that joins {join_ms:.2} ms.\n",
        route_mib * 1024.0,
        stream_mib * 1024.0,
        build_route_ms * 1000.0,
        delivery_ms * 1000.0
    );
    let _ = writeln!(
        out,
        "Assumed: {envoys} Envoys of {gateways} gateways with {} routes each, the largest gateway with {} Envoys; {} edits and {} changes of endpoints a second in the whole fleet; replicas with {} cores and {} MiB; each watches {} kinds; an API server that serves at most {} watches and sends at most {} events a second; Envoys that try again after up to {} s at first and up to {} s at most. A replica needs {:.0} % of the memory and {:.0} % of the build time of a route also for gateways of other replicas, because it compiles them.\n",
        ASSUMED.routes,
        fleet.sizes[0],
        ASSUMED.edits_a_second,
        ASSUMED.endpoints_a_second,
        ASSUMED.cores,
        ASSUMED.memory_mib,
        ASSUMED.kinds,
        ASSUMED.most_watches,
        ASSUMED.most_events,
        ASSUMED.first_retry,
        ASSUMED.longest_retry,
        ASSUMED.other_memory * 100.0,
        ASSUMED.other_time * 100.0
    );
    out.push_str("| replicas | most Envoys of one | its memory | cores in use | an edit at every client, p99 | watches | events a second of the API server | one crashes: all served again after | most memory of a replica then |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    let mut limits = Vec::new();
    for replicas in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        let of = fleet.run(replicas, model);
        let recovery = if of.recovery_s.is_finite() { format!("{:.1} s", of.recovery_s) } else { "never".into() };
        let wait = if of.busiest >= 1.0 { "it falls behind".into() } else { format!("{:.0} ms", of.p99_ms) };
        let _ = writeln!(
            out,
            "| {} | {} | {:.0} MiB | {:.0} % | {wait} | {:.0} | {:.0} | {recovery} | {:.0} MiB |",
            of.replicas,
            of.most_envoys,
            of.most_memory,
            of.busiest * 100.0,
            of.watches,
            of.events,
            of.recovery_memory
        );
        limits.push(of);
    }
    let fits = |of: &Outcome| {
        of.most_memory.max(of.recovery_memory) <= ASSUMED.memory_mib && of.busiest < 0.7 && of.p99_ms <= 1000.0 && of.recovery_s <= 30.0
    };
    let asks = |of: &Outcome| of.watches <= ASSUMED.most_watches && of.events <= ASSUMED.most_events;
    let _ = writeln!(out);
    match limits.iter().find(|of| fits(of) && asks(of)) {
        Some(of) => {
            _ = writeln!(
                out,
                "The fleet needs {} replicas. This is the smallest tested number for four conditions: every replica fits into its memory, also after another replica crashed; it uses less than 70 % of its cores; an edit reaches every client within a second (p99); and the Envoys of a crashed replica are served within 30 s.",
                of.replicas
            )
        }
        None => _ = writeln!(out, "No number of replicas here is enough."),
    }
    if let Some(of) = limits.iter().rev().find(|of| !fits(of)) {
        let why = [
            (of.most_memory > ASSUMED.memory_mib, "memory"),
            (of.recovery_memory > ASSUMED.memory_mib, "the memory of replicas that take over from a crashed replica"),
            (of.busiest >= 0.7, "cores"),
            (of.p99_ms > 1000.0, "the time until edits arrive"),
            (of.recovery_s > 30.0, "the time until the Envoys of a crashed replica are served"),
        ];
        let why: Vec<&str> = why.iter().filter(|(is, _)| *is).map(|(_, what)| *what).collect();
        let _ = writeln!(out, "\nWith {} replicas, the first limits are {}.", of.replicas, why.join(", then "));
    }
    let watches = (ASSUMED.most_watches / ASSUMED.kinds).min(ASSUMED.most_events / (ASSUMED.edits_a_second + ASSUMED.endpoints_a_second));
    let _ = writeln!(out, "\nThe upper limit is the API server. Every replica watches everything, so it serves at most {watches:.0} replicas.");
    out
}
