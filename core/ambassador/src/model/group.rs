//! Models IRHTTPMappingGroup and IRTCPMappingGroup: Mappings that match the same requests and share them by weight.
//!
//! Source of the behaviour: Emissary `python/ambassador/ir/irbasemappinggroup.py`, `ir/irhttpmappinggroup.py`, `ir/irtcpmappinggroup.py`.

use super::cluster::Ask;
use super::key::GroupKey;
use super::mapping::LbSettings;
use super::notices::{ControllerNotice, Identity, Notices, text};
use super::{HttpMapping, Model, TcpMapping, cluster};
use crate::config::Labels;
use crate::spec::{self, LabelSpecifier};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use chancery_base::diagnostic::codes;
use chancery_base::resource::{Origin, Rule, Sourced};
use chancery_text::Str;
use hashbrown::HashSet;

#[derive(Clone, Debug)]
pub struct Group {
    pub key: GroupKey,
    /// The first Mapping's identity, which receives the group's errors.
    pub identity: Identity,
    /// The heaviest member, which decides the order of the group's routes. TCP groups have none, and come last.
    pub heaviest: Option<Arc<HttpMapping>>,
    /// Its members.
    pub kind: GroupKind,
}

/// The members of a group.
#[derive(Clone, Debug)]
pub enum GroupKind {
    /// A group of Mappings.
    Http(Box<HttpGroup>),
    /// A group of TCPMappings.
    Tcp(Box<TcpGroup>),
}

/// A Mapping in its group.
#[derive(Debug)]
pub struct Member<M> {
    /// The Mapping, shared with earlier and later compiles.
    pub mapping: Arc<M>,
    /// Cumulative share of the group, in per cent; set when the group is finished.
    pub share: Sourced<u32>,
    /// Key in [`Model::clusters`]; empty until the group is finished.
    pub cluster: Str,
}

impl<M> Member<M> {
    fn new(mapping: Arc<M>) -> Self {
        Self { mapping, share: Sourced::built_in(0), cluster: Str::default() }
    }
}

impl<M> Clone for Member<M> {
    fn clone(&self) -> Self {
        Self { mapping: self.mapping.clone(), share: self.share, cluster: self.cluster.clone() }
    }
}

impl<M> core::ops::Deref for Member<M> {
    type Target = M;
    fn deref(&self) -> &M {
        &self.mapping
    }
}

/// IRHTTPMappingGroup.
#[derive(Clone, Debug)]
pub struct HttpGroup {
    /// In order; after finishing, members with a weight come first.
    pub mappings: Vec<Member<HttpMapping>>,
    /// Gets copies of the requests.
    pub shadow: Option<Member<HttpMapping>>,
    /// Redirects clients; a group with a redirect has no other Mappings.
    pub redirect: Option<Member<HttpMapping>>,
    /// The first member; the others must agree with it in some fields.
    pub founder: Arc<HttpMapping>,
    /// The founder's rate limit labels by domain; completed with the Module's defaults when the group is finished.
    pub labels: Option<Sourced<RateLimitLabels>>,
    /// The values that the last member with them sets for all.
    pub shared: Shared,
    /// The members of `mappings`, as far as they were looked up.
    pub known: Known,
}

/// Rate limit labels by domain.
pub type RateLimitLabels = spec::Map<Vec<Sourced<spec::Map<Vec<Sourced<LabelSpecifier>>>>>>;

/// Fields that the last member with them sets for the group.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// Host glob.
    pub host: Option<Sourced<Str>>,
    /// Whether the host is a regular expression.
    pub host_regex: bool,
    /// Labels of all members.
    pub labels: Arc<Labels>,
    /// Path matching.
    pub case_sensitive: Option<Sourced<bool>>,
    /// Query parameters matched.
    pub query: Vec<Sourced<super::mapping::KeyValue>>,
    /// Headers added to requests, of all members.
    pub add_request_headers: Vec<(Str, Sourced<spec::AddedHeader>)>,
    /// Headers added to responses, of all members.
    pub add_response_headers: Vec<(Str, Sourced<spec::AddedHeader>)>,
    /// Headers removed from requests.
    pub remove_request_headers: Option<Sourced<Vec<Sourced<Str>>>>,
    /// Headers removed from responses.
    pub remove_response_headers: Option<Sourced<Vec<Sourced<Str>>>>,
    /// Which circuit breaker limits requests.
    pub priority: Option<Sourced<Str>>,
    /// Rewriting by a regular expression.
    pub regex_rewrite: Option<Sourced<Box<spec::RegexMap>>>,
    pub cors: Option<Sourced<Box<spec::Cors>>>,
    pub retry_policy: Option<Sourced<Box<spec::RetryPolicy>>>,
    pub allow_upgrade: Option<Sourced<Vec<Sourced<Str>>>>,
    /// Whether a member sets `host_redirect`, even to `false`.
    pub mentions_redirect: bool,
}

impl HttpGroup {
    /// Load balancing of the group: its own, or the Module's.
    pub fn load_balancer<'a>(&'a self, model: &'a Model<'_>) -> Option<&'a Sourced<LbSettings>> {
        self.founder.load_balancer.as_ref().or(model.ambassador.load_balancer.as_ref())
    }

    fn new(founder: Arc<HttpMapping>) -> Self {
        let labels = founder.spec.labels.clone();
        Self { mappings: Vec::new(), shadow: None, redirect: None, founder, labels, shared: Shared::default(), known: Known::default() }
    }
}

/// IRTCPMappingGroup.
#[derive(Clone, Debug)]
pub struct TcpGroup {
    /// In order; after finishing, members with a weight come first.
    pub mappings: Vec<Member<TcpMapping>>,
    /// The name of the member that made the group.
    pub first_name: Str,
    /// Port listened on.
    pub port: Sourced<i64>,
    /// The address that it listens on, if set.
    pub address: Option<Sourced<Str>>,
    /// SNI; `None`: any connection.
    pub host: Option<Sourced<Str>>,
    /// The members of `mappings`, as far as they were looked up.
    pub known: Known,
}

impl TcpGroup {
    /// The address that its listener binds to.
    pub fn bind_to(&self, options: &super::Options) -> String {
        let address = self.address.as_ref().map_or(options.bind_address(), |address| address.value.clone());
        format!("tcp-{address}-{}", self.port.value)
    }

    /// The reference's name for it.
    pub fn name(&self) -> String {
        format!("GROUP: {}", self.first_name)
    }
}

/// The fields in which a new member differs from the group, with their places.
fn mismatches(founder: &HttpMapping, mapping: &HttpMapping) -> Vec<(&'static str, Option<Origin>)> {
    let (spec, first) = (&mapping.spec, &founder.spec);
    // The reference always has circuit breakers, so none and some differ both ways.
    let breakers = (founder.breakers != mapping.breakers).then(|| mapping.breakers.as_ref().and_then(|b| b.origin));
    let headers = (founder.headers != mapping.headers).then(|| mapping.headers.first().and_then(|h| h.origin));
    [
        ("bypass_auth", differs(&spec.bypass_auth, &first.bypass_auth)),
        ("circuit_breakers", breakers),
        ("connect_timeout_ms", differs(&spec.connect_timeout_ms, &first.connect_timeout_ms)),
        ("cluster_idle_timeout_ms", differs(&spec.cluster_idle_timeout_ms, &first.cluster_idle_timeout_ms)),
        ("cluster_max_connection_lifetime_ms", differs(&spec.cluster_max_connection_lifetime_ms, &first.cluster_max_connection_lifetime_ms)),
        ("headers", headers),
        ("keepalive", differs(&spec.keepalive, &first.keepalive)),
        ("labels", differs(&spec.labels, &first.labels)),
        ("load_balancer", differs(&mapping.load_balancer, &founder.load_balancer)),
        ("prefix_regex", differs(&spec.prefix_regex, &first.prefix_regex)),
        ("prefix_exact", differs(&spec.prefix_exact, &first.prefix_exact)),
    ]
    .into_iter()
    .filter_map(|(field, place)| Some((field, place?)))
    .collect()
}

/// The place of a new member's field, if it is set and differs from the group's.
fn differs<T: PartialEq>(theirs: &Option<Sourced<T>>, ours: &Option<Sourced<T>>) -> Option<Option<Origin>> {
    match (theirs, ours) {
        (Some(theirs), ours) if ours.as_ref() != Some(theirs) => Some(theirs.origin),
        _ => None,
    }
}

/// The names of members: kind, namespace and name. The reference ignores everything after the first dot of a name when it checks for duplicates.
#[derive(Clone, Debug, Default)]
pub struct Known(HashSet<(Str, Option<Str>, Str)>);

impl Known {
    fn key(of: &Identity) -> (Str, Option<Str>, Str) {
        (of.kind.clone(), of.namespace.clone(), of.name.split('.').next().map(Str::from).unwrap_or_default())
    }

    /// Whether a member has this name. Members may be added, but keep their indexes.
    fn has<'m>(&mut self, of: &Identity, members: impl ExactSizeIterator<Item = &'m Identity>) -> bool {
        // Most groups have one member and need no check.
        let met = self.0.len();
        self.0.extend(members.skip(met).map(Self::key));
        self.0.contains(&Self::key(of))
    }
}

fn mismatch(name: &str, fields: &[(&'static str, Option<Origin>)]) -> ControllerNotice {
    let names: Vec<&str> = fields.iter().map(|(field, _)| *field).collect();
    let message = format!("cannot accept new mapping {name} with mismatched {}", names.join(", "));
    let place = fields.iter().find_map(|(_, place)| *place);
    ControllerNotice::new(&codes::GROUP_MISMATCH, message, place)
        .help("Mappings that match the same requests must have the same value in these fields")
}

impl Group {
    /// A group whose first member is this Mapping.
    pub(super) fn of(mapping: Arc<HttpMapping>, notices: &mut Notices) -> Self {
        let mut group = HttpGroup::new(mapping.clone());
        let (key, identity, heaviest) = (mapping.group.clone(), mapping.identity.clone(), Some(mapping.clone()));
        group.take(mapping, &identity, notices);
        Self { key, identity, heaviest, kind: GroupKind::Http(Box::new(group)) }
    }

    pub(super) fn add(&mut self, mapping: Arc<HttpMapping>, notices: &mut Notices) {
        let Group { kind, identity, heaviest, .. } = self;
        let GroupKind::Http(group) = kind else { return };
        if group.known.has(&mapping.identity, group.mappings.iter().map(|member| &member.identity)) {
            notices.duplicate_member(&mapping.identity, identity);
            return;
        }
        let mismatched = mismatches(&group.founder, &mapping);
        if !mismatched.is_empty() {
            notices.error(identity, mismatch(&mapping.identity.name, &mismatched));
            return;
        }
        let newcomer = mapping.clone();
        if group.take(mapping, identity, notices) && heaviest.as_ref().is_none_or(|known| newcomer.weight > known.weight) {
            *heaviest = Some(newcomer);
        }
    }

    /// Whether another group has the same Mappings, and so is equal.
    pub(super) fn is_made_of_the_same(&self, other: &Group) -> bool {
        let (GroupKind::Http(ours), GroupKind::Http(theirs)) = (&self.kind, &other.kind) else { return false };
        let same = |a: &Member<HttpMapping>, b: &Member<HttpMapping>| {
            Arc::ptr_eq(&a.mapping, &b.mapping) && a.share == b.share && a.share.origin == b.share.origin && a.cluster == b.cluster
        };
        let either = |a: &Option<Member<HttpMapping>>, b: &Option<Member<HttpMapping>>| match (a, b) {
            (Some(a), Some(b)) => same(a, b),
            (None, None) => true,
            _ => false,
        };
        Arc::ptr_eq(&ours.founder, &theirs.founder)
            && either(&ours.shadow, &theirs.shadow)
            && either(&ours.redirect, &theirs.redirect)
            && ours.mappings.len() == theirs.mappings.len()
            && ours.mappings.iter().zip(&theirs.mappings).all(|(a, b)| same(a, b))
    }
}

impl Model<'_> {
    /// Adds a generated Mapping to its group, or creates the group.
    pub(super) fn add_mapping(&mut self, mapping: Arc<HttpMapping>) {
        let Self { groups, notices, .. } = self;
        let number = groups.enter(&mapping.group);
        if let Some(slot) = groups.meet(number) {
            slot.add(mapping, notices);
            slot.noisy = true;
        }
    }

    /// Adds loaded Mappings to the groups that are rebuilt.
    pub(super) fn fill_groups(&mut self) {
        let Self { groups, notices, .. } = self;
        for at in 0..groups.loaded.len() {
            let Some(loaded) = groups.loaded.get(at).filter(|loaded| loaded.mapping.is_some()) else { continue };
            let (number, mapping) = (loaded.group, &loaded.mapping);
            let mapping = if groups.is_made_again(number) { mapping.clone() } else { None };
            if let (Some(slot), Some(mapping)) = (groups.meet(number), mapping) {
                slot.add(mapping, notices);
            }
        }
        groups.before_tcp = groups.first.len();
    }

    /// The same for a TCPMapping.
    pub(super) fn add_tcp_mapping(&mut self, mapping: TcpMapping) {
        let address = text(mapping.spec.address.as_ref());
        let host = text(mapping.spec.host.as_ref());
        let port = mapping.spec.port.unwrap_or_default();
        let or_star = |text: &str| if text.is_empty() { String::from("*") } else { text.into() };
        let key = GroupKey::of(&format!("TCP-{}{}{}", or_star(address), port.value, or_star(host)));
        let Self { groups, notices, .. } = self;
        match groups.tcp.entry(key.clone()) {
            indexmap::map::Entry::Vacant(slot) => {
                let identity = mapping.identity.clone();
                let group = TcpGroup {
                    first_name: identity.name.clone(),
                    port,
                    address: mapping.spec.address.clone().filter(|text| !text.value.is_empty()),
                    host: mapping.spec.host.clone().filter(|text| !text.value.is_empty()),
                    mappings: vec![Member::new(Arc::new(mapping))],
                    known: Known::default(),
                };
                slot.insert(Group { key, identity, heaviest: None, kind: GroupKind::Tcp(Box::new(group)) });
            }
            indexmap::map::Entry::Occupied(mut slot) => {
                let Group { kind, identity, .. } = slot.get_mut();
                let GroupKind::Tcp(group) = kind else { return };
                if group.known.has(&mapping.identity, group.mappings.iter().map(|member| &member.identity)) {
                    notices.duplicate_member(&mapping.identity, identity);
                    return;
                }
                let mismatched = tcp_mismatches(&group.mappings[0], &mapping);
                if mismatched.is_empty() {
                    group.mappings.push(Member::new(Arc::new(mapping)));
                } else {
                    notices.error(identity, mismatch(&mapping.identity.name, &mismatched));
                }
            }
        }
    }

    /// MappingFactory.finalize: shared values of members, their clusters, their weights, their order.
    pub(super) fn finalize_groups(&mut self) {
        let mut groups = core::mem::take(&mut self.groups);
        let mut again = Vec::new();
        for at in 0..=groups.first.len() {
            if at == groups.before_tcp {
                groups.tcp.values_mut().for_each(|group| self.finalize_tcp_group(group));
            }
            let Some(number) = groups.first.get(at).copied() else { break };
            let Some(slot) = groups.slots.get_mut(number as usize) else { continue };
            if !slot.redo {
                slot.asks.iter_mut().for_each(|ask| self.enter_ask(ask, None));
                continue;
            }
            again.push(number);
            let Some(mut group) = slot.group.take() else { continue };
            let before = self.notices.reports();
            let (asks, steady) = self.finalize_http_group(Arc::make_mut(&mut group));
            groups.made(number, group, asks, steady && self.notices.reports() == before);
        }
        groups.put_in_order(again);
        self.groups = groups;
    }

    fn finalize_tcp_group(&mut self, group: &mut Group) {
        let GroupKind::Tcp(tcp) = &mut group.kind else { return };
        for mapping in &mut tcp.mappings {
            mapping.cluster = self.add_cluster(cluster::ClusterRequest::by_tcp_mapping(mapping));
        }
        let weights = weights(&tcp.mappings, |m| (m.spec.weight, &m.identity.name));
        match self.shares(weights, &group.identity) {
            Ok(order) => reorder(&mut tcp.mappings, &order, |m, share| m.share = share),
            Err(partial) => partial.into_iter().for_each(|(at, share)| tcp.mappings[at].share = share),
        }
    }

    /// Lists the requested clusters, and whether the result is valid as long as the members are.
    fn finalize_http_group(&mut self, group: &mut Group) -> (Vec<Ask>, bool) {
        let Group { identity, kind, .. } = group;
        let GroupKind::Http(group) = kind else { return (Vec::new(), true) };
        let (mut asks, mut steady) = (Vec::with_capacity(group.mappings.len() + usize::from(group.shadow.is_some())), true);
        group.shared = shared(&group.mappings);
        self.complete_labels(group, identity);
        let mut ask = |this: &mut Self, member: &mut Member<HttpMapping>, marker: Option<Str>| {
            let (ask, name, holds) = this.ask_cluster(&member.mapping, marker);
            member.cluster = name;
            steady &= holds;
            asks.push(ask);
        };
        if let Some(shadow) = &mut group.shadow {
            ask(self, shadow, Some("shadow".into()));
        }
        if let Some(redirect) = &group.redirect {
            group.shared.case_sensitive = redirect.spec.case_sensitive.or(group.shared.case_sensitive.take());
            return (asks, steady);
        }
        for mapping in &mut group.mappings {
            let marker = mapping.spec.cluster_tag.as_ref().map(|tag| tag.value.clone()).filter(|tag| !tag.is_empty());
            ask(self, mapping, marker);
        }
        if let [only] = group.mappings.as_mut_slice() {
            let origin = only.spec.weight.as_ref().and_then(|weight| weight.origin).unwrap_or_else(Origin::built_in);
            only.share = Sourced::new(100, origin.by(Rule::Derived));
            let (weight, name) = (only.spec.weight, only.identity.name.clone());
            self.weight_alone(weight.as_ref(), &name, identity);
            return (asks, steady);
        }
        let weights = weights(&group.mappings, |m| (m.spec.weight, &m.identity.name));
        match self.shares(weights, identity) {
            Ok(order) => reorder(&mut group.mappings, &order, |m, share| m.share = share),
            Err(partial) => partial.into_iter().for_each(|(at, share)| group.mappings[at].share = share),
        }
        (asks, steady)
    }

    /// Adds the Module's default labels before a group's labels, or replaces them.
    fn complete_labels(&mut self, group: &mut HttpGroup, identity: &Identity) {
        let Some(labels) = group.labels.as_mut().filter(|labels| !labels.value.is_empty()) else {
            let domain = self.ambassador.default_label_domain();
            if let Some(defaults) = self.ambassador.default_labels(&domain.value) {
                let label = spec::Map(vec![("defaults".into(), defaults.clone())]);
                let labels = spec::Map(vec![(domain.value, Sourced::new(vec![Sourced::new(label, defaults.origin)], defaults.origin))]);
                group.labels = Some(Sourced::new(labels, defaults.origin));
            }
            return;
        };
        for (domain, list) in &mut labels.value.0 {
            let Some(defaults) = self.ambassador.default_labels(domain) else { continue };
            for label in &mut list.value {
                if label.value.0.len() > 1 {
                    let message = "label has multiple entries instead of just one";
                    self.notices.error(identity, ControllerNotice::new(&codes::INVALID_LABEL_GROUP, message, label.origin));
                }
                if let Some((_, actions)) = label.value.0.first_mut() {
                    actions.value.splice(0..0, defaults.value.iter().cloned());
                }
            }
        }
    }

    /// A weight of the only Mapping of a group.
    fn weight_alone(&mut self, weight: Option<&Sourced<i64>>, name: &Str, identity: &Identity) {
        let Some(weight) = weight.filter(|weight| weight.value != 100) else { return };
        let message = format!("no other Mapping has the same conditions as {name}, so its weight ({}) changes nothing", weight.value);
        let post = ControllerNotice::new(&codes::FIELD_WITHOUT_EFFECT, message, weight.origin);
        self.notices.warning(identity, post.help("give the others the same hostname, prefix and conditions, or take the weight out"));
    }

    /// Cumulative shares: members with a weight first, in order; the others divide the remainder. On an error, the values that the reference has
    /// set by then.
    fn shares(&mut self, weights: Vec<(Option<Sourced<i64>>, Str)>, identity: &Identity) -> Result<Shares, Shares> {
        let built_in = Origin::built_in();
        if let [(weight, name)] = weights.as_slice() {
            self.weight_alone(weight.as_ref(), name, identity);
            return Ok(vec![(0, Sourced::new(100, built_in))]);
        }
        let mut shares: Shares = Vec::with_capacity(weights.len());
        let mut total: i64 = 0;
        let ignoring = "Could not normalize mapping weights, ignoring...";
        for (at, (weight, name)) in weights.iter().enumerate() {
            let Some(weight) = weight else { continue };
            if !(0..=100).contains(&weight.value) {
                let message = format!("Mapping {name} has invalid weight {}", weight.value);
                self.notices.error(identity, ControllerNotice::new(&codes::INVALID_WEIGHT, message, weight.origin));
                self.notices.error(identity, ControllerNotice::new(&codes::INVALID_WEIGHT, ignoring, None));
                return Err(shares);
            }
            total += weight.value;
            shares.push((at, Sourced::new(u32::try_from(total).unwrap_or(u32::MAX), weight.origin.map(|origin| origin.by(Rule::Derived)))));
        }
        if total > 100 {
            let message = "Total weight of mappings exceeds 100, please reconfigure for correct behavior...";
            let place = weights.iter().rev().find_map(|(weight, _)| weight.as_ref()).and_then(|weight| weight.origin);
            self.notices.error(identity, ControllerNotice::new(&codes::INVALID_WEIGHT, message, place));
            self.notices.error(identity, ControllerNotice::new(&codes::INVALID_WEIGHT, ignoring, None));
            return Err(shares);
        }
        let without: Vec<usize> = weights.iter().enumerate().filter(|(_, (weight, _))| weight.is_none()).map(|(at, _)| at).collect();
        let each = half_even(100 - total, i64::try_from(without.len()).unwrap_or(1));
        for (i, at) in without.iter().enumerate() {
            total = if i + 1 == without.len() { 100 } else { total + each };
            shares.push((*at, Sourced::new(u32::try_from(total).unwrap_or(0), built_in.by(Rule::Derived))));
        }
        Ok(shares)
    }
}

/// Members by their old place, in their new order, with their cumulative shares.
type Shares = Vec<(usize, Sourced<u32>)>;

fn weights<M>(members: &[M], weight: impl Fn(&M) -> (Option<Sourced<i64>>, &Str)) -> Vec<(Option<Sourced<i64>>, Str)> {
    members.iter().map(weight).map(|(weight, name)| (weight, name.clone())).collect()
}

fn reorder<M>(members: &mut Vec<M>, order: &Shares, set: impl Fn(&mut M, Sourced<u32>)) {
    let mut old: Vec<Option<M>> = members.drain(..).map(Some).collect();
    for (at, share) in order {
        if let Some(mut member) = old.get_mut(*at).and_then(Option::take) {
            set(&mut member, *share);
            members.push(member);
        }
    }
}

/// Division rounded like Python's `round`: to the nearest, halves to even.
fn half_even(value: i64, by: i64) -> i64 {
    if by == 0 {
        return 0;
    }
    let (quotient, rest) = (value.div_euclid(by), value.rem_euclid(by));
    match (rest * 2).cmp(&by) {
        core::cmp::Ordering::Less => quotient,
        core::cmp::Ordering::Greater => quotient + 1,
        core::cmp::Ordering::Equal => quotient + quotient.rem_euclid(2),
    }
}

impl HttpGroup {
    /// Adds a member; returns whether it affects the group's order among routes.
    fn take(&mut self, mut mapping: Arc<HttpMapping>, identity: &Identity, notices: &mut Notices) -> bool {
        let on = |flag: &Option<Sourced<bool>>| flag.as_ref().is_some_and(|flag| flag.value);
        let place = |flag: &Option<Sourced<bool>>| flag.as_ref().and_then(|flag| flag.origin);
        let name = mapping.identity.name.clone();
        let (shadow, mut redirect) = (on(&mapping.spec.shadow), on(&mapping.spec.host_redirect));
        if shadow && redirect {
            let message = "At most one of host_redirect and shadow may be set; ignoring host_redirect";
            notices.error(&mapping.identity, ControllerNotice::new(&codes::MUTUALLY_EXCLUSIVE, message, place(&mapping.spec.host_redirect)));
            Arc::make_mut(&mut mapping).spec.host_redirect = None;
            redirect = false;
        }
        let mut refuse = |message: String, origin| {
            notices.error(identity, ControllerNotice::new(&codes::GROUP_CONFLICT, message, origin));
        };
        if shadow {
            match &self.shadow {
                Some(first) => refuse(format!("cannot accept {name} as second shadow after {}", first.identity.name), place(&mapping.spec.shadow)),
                None => self.shadow = Some(Member::new(mapping)),
            }
            false
        } else if redirect {
            let origin = place(&mapping.spec.host_redirect);
            match (&self.redirect, self.mappings.first()) {
                (Some(first), _) => refuse(format!("cannot accept {name} as second host_redirect after {}", first.identity.name), origin),
                (None, Some(first)) => refuse(
                    format!("cannot accept {name} with host_redirect after mappings without host_redirect (eg {})", first.identity.name),
                    origin,
                ),
                (None, None) => self.redirect = Some(Member::new(mapping)),
            }
            false
        } else if let Some(first) = &self.redirect {
            let message = format!("cannot accept {name} without host_redirect after {} with host_redirect", first.identity.name);
            notices.error(&mapping.identity, ControllerNotice::new(&codes::GROUP_CONFLICT, message, None));
            false
        } else {
            // Most groups have one member.
            self.mappings.reserve_exact(usize::from(self.mappings.is_empty()));
            self.mappings.push(Member::new(mapping));
            true
        }
    }
}

fn tcp_mismatches(first: &TcpMapping, mapping: &TcpMapping) -> Vec<(&'static str, Option<Origin>)> {
    let (ours, theirs) = (&first.spec, &mapping.spec);
    let breakers = (first.breakers != mapping.breakers).then(|| mapping.breakers.as_ref().and_then(|b| b.origin));
    [
        ("address", differs(&theirs.address, &ours.address)),
        ("circuit_breakers", breakers),
        ("enable_ipv4", differs(&theirs.enable_ipv4, &ours.enable_ipv4)),
        ("enable_ipv6", differs(&theirs.enable_ipv6, &ours.enable_ipv6)),
        ("host", differs(&theirs.host, &ours.host)),
        ("idle_timeout_ms", differs(&theirs.idle_timeout_ms, &ours.idle_timeout_ms)),
        ("tls", differs(&theirs.tls, &ours.tls)),
    ]
    .into_iter()
    .filter_map(|(field, place)| Some((field, place?)))
    .collect()
}

/// The values that members set for the whole group: the last one wins.
fn shared(mappings: &[Member<HttpMapping>]) -> Shared {
    let mut order: Vec<&HttpMapping> = mappings.iter().map(|member| &*member.mapping).collect();
    order.sort_by(|a, b| a.weight.cmp(&b.weight));
    let mut out = Shared::default();
    for mapping in order {
        let spec = &mapping.spec;
        out.host.clone_from(&mapping.host);
        if let Some(regex) = &spec.host_regex {
            out.host_regex = regex.value;
        }
        if out.labels.is_empty() {
            out.labels = mapping.labels.clone();
        } else if !mapping.labels.is_empty() {
            Arc::make_mut(&mut out.labels).extend(mapping.labels.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        out.query.clone_from(&mapping.query);
        for (into, from) in [(&mut out.add_request_headers, &spec.add_request_headers), (&mut out.add_response_headers, &spec.add_response_headers)] {
            if let Some(from) = from {
                merge(into, &from.value.0, |(name, _)| name);
            }
        }
        out.regex_rewrite.clone_from(&spec.regex_rewrite);
        replace(&mut out.case_sensitive, &spec.case_sensitive);
        replace(&mut out.remove_request_headers, &spec.remove_request_headers);
        replace(&mut out.remove_response_headers, &spec.remove_response_headers);
        replace(&mut out.priority, &spec.priority);
        replace(&mut out.cors, &spec.cors);
        replace(&mut out.retry_policy, &spec.retry_policy);
        replace(&mut out.allow_upgrade, &spec.allow_upgrade);
        out.mentions_redirect |= spec.host_redirect.is_some();
    }
    out
}

fn replace<T: Clone>(into: &mut Option<T>, from: &Option<T>) {
    if from.is_some() {
        into.clone_from(from);
    }
}

/// Later entries replace earlier ones of the same key, at the same position.
fn merge<T: Clone>(into: &mut Vec<T>, from: &[T], key: impl Fn(&T) -> &Str) {
    for entry in from {
        match into.iter_mut().find(|known| key(known) == key(entry)) {
            Some(known) => *known = entry.clone(),
            None => into.push(entry.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::half_even;

    #[test]
    fn halves_go_to_the_even_side() {
        assert_eq!([half_even(50, 4), half_even(70, 4), half_even(100, 3), half_even(100, 6)], [12, 18, 33, 17]);
    }
}
