//! Merges canaries into the upstreams of the locations with the same host, path and type.

use super::{Builder, Notice, NoticeKind, is_same_path};
use crate::ingress::{ANY_HOST, Ingress};
use alloc::format;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Affinity, DEFAULT_UPSTREAM, Location, Settings};
use chancery_base::resource::{Origin, Sourced};
use chancery_text::Str;

impl Builder<'_> {
    pub(super) fn merge_canaries(&mut self) {
        let is_canary = |settings: &Settings| settings.canary.enabled.value;
        if self.counted.iter().all(|counted| is_canary(&counted.settings)) {
            for counted in self.counted {
                self.report_alone(&counted.ingress, counted.settings.canary.enabled.origin, "there is no Ingress that is not a canary");
            }
            return;
        }
        for counted in self.counted.iter().filter(|counted| is_canary(&counted.settings)) {
            self.merge(&counted.ingress, &counted.settings);
        }
    }

    fn report_alone(&mut self, ingress: &Ingress, origin: Option<Origin>, why: &str) {
        self.notice(Notice { kind: NoticeKind::CanaryAlone, message: why.into(), origin, other: None, ingress: Some(ingress.object) });
    }

    fn merge(&mut self, ingress: &Ingress, settings: &Settings) {
        if let Some(backend) = &ingress.default_backend {
            let service = backend.service.as_ref();
            let name = service.map_or_else(|| Str::from(format!("{}-INVALID", ingress.namespace)), |service| service.upstream(&ingress.namespace));
            self.merge_into(ingress, settings, (&ANY_HOST, &name, Some(backend.origin)), |_| true);
        }
        for (host, path) in ingress.paths() {
            let Some(service) = &path.backend.service else { continue };
            let name = service.upstream(&ingress.namespace);
            let matches_location = |location: &Location| is_same_path(&path.path.value, path.path_type, location);
            self.merge_into(ingress, settings, (&host.value, &name, path.path.origin), matches_location);
        }
    }

    /// Merges a canary's upstream into the upstreams of the host's locations that match.
    fn merge_into(
        &mut self,
        ingress: &Ingress,
        settings: &Settings,
        (host, canary, origin): (&Str, &Str, Option<Origin>),
        matches_location: impl Fn(&Location) -> bool,
    ) {
        if !self.upstreams.contains_key(canary) {
            return;
        }
        let Some(server) = self.servers.get(host) else {
            self.report_alone(ingress, origin, &format!("cannot merge alternative backend {canary} into hostname {host} that does not exist"));
            return;
        };
        let (mut merged, mut is_main) = (false, false);
        let locations: Vec<(Str, bool)> =
            server.locations.iter().map(|location| (location.upstream.value.clone(), matches_location(location))).collect();
        for (main, meant) in locations {
            if !self.upstreams.contains_key(&main) {
                continue;
            }
            is_main = main == *canary;
            if is_main {
                break;
            }
            let has_server = self.upstreams.get(&main).is_some_and(|upstream| !upstream.no_server);
            if meant && main != DEFAULT_UPSTREAM && has_server {
                merged = self.add(ingress, settings, &main, (canary, origin));
            }
        }
        if is_main {
            let message = format!("alternative upstream {canary} in Ingress {} is primary upstream in other Ingress for host {host}", ingress.key());
            self.report_alone(ingress, origin, &message);
        } else if !merged {
            self.report_alone(ingress, origin, &format!("unable to find real backend for alternative backend {canary}. Deleting."));
            self.upstreams.remove(canary);
        }
    }

    /// Adds a canary to an upstream. The canary gets the upstream's session affinity.
    fn add(&mut self, ingress: &Ingress, settings: &Settings, main: &Str, (canary, origin): (&Str, Option<Origin>)) -> bool {
        let Some(upstream) = self.upstreams.get_mut(main) else { return false };
        if upstream.alternatives.iter().any(|known| known.value == *canary) {
            return true;
        }
        let first = upstream.alternatives.first().and_then(|first| first.origin);
        let affinity: Option<(Affinity, _)> =
            (settings.affinity.canary_behaviour.value != "legacy").then(|| (upstream.affinity.clone(), upstream.affinity_locations.clone()));
        upstream.alternatives.push(Sourced::new(canary.clone(), origin));
        if upstream.alternatives.len() > 1 {
            self.notice(Notice {
                kind: NoticeKind::CanarySecond,
                message: format!("{main} has another canary already, and nginx only checks the first"),
                origin,
                other: first,
                ingress: Some(ingress.object),
            });
        }
        if let Some((affinity, locations)) = affinity
            && let Some(upstream) = self.upstreams.get_mut(canary)
        {
            upstream.affinity = affinity;
            upstream.affinity_locations = locations;
        }
        true
    }
}
