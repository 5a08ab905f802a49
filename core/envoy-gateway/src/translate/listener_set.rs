//! Adds the listeners of ListenerSets to their Gateways, and concludes the statuses of ListenerSets.

use super::super::context::{ListenerSetContext, Translator};
use super::gateways::listener;
use alloc::format;
use alloc::vec::Vec;
use chancery_kubernetes::selector::Selector;
use chancery_text::Str;

/// Adds the listeners of all ListenerSets that their Gateways allow.
pub(crate) fn attach<'a>(t: &mut Translator<'a>) {
    for (place, set) in t.resources.listener_sets.iter().copied().enumerate() {
        let parent = set.spec().field("parentRef");
        let namespace = match parent.field("namespace").str() {
            "" => set.namespace().as_str(),
            written => written,
        };
        let name = parent.field("name").str();
        let gateway = t.gateways.iter().position(|of| *of.object.namespace() == *namespace && *of.object.name() == *name);
        let mut context = ListenerSetContext { object: set, gateway, conditions: Default::default(), attached: false };
        if let Some(at) = gateway {
            if is_allowed(t, at, set.namespace()) {
                context.attached = true;
                let prefix = t.gateways[at].object.path();
                let listeners: Vec<_> =
                    set.spec().field("listeners").items().map(|at| listener(at, &prefix, Some((place, set.full_name())))).collect();
                t.gateways[at].listeners.extend(listeners);
            } else {
                let message = format!("ListenerSet attachment from namespace {} not allowed by Gateway {namespace}/{name}", set.namespace());
                context.conditions.set("Accepted", false, "NotAllowed", message);
                context.conditions.set("Programmed", false, "NotAllowed", "Not Programmed");
            }
        }
        t.listener_sets.push(context);
    }
}

fn is_allowed(t: &Translator<'_>, gateway: usize, namespace: &Str) -> bool {
    let object = t.gateways[gateway].object;
    let allowed = object.spec().at("allowedListeners.namespaces");
    match allowed.field("from").str() {
        "All" => true,
        "Same" => object.namespace() == namespace,
        "Selector" if allowed.field("selector").exists() => {
            Selector::of_fields(allowed.field("selector")).is_ok_and(|selector| selector.matches(|key| t.resources.namespace_label(namespace, key)))
        }
        _ => false,
    }
}

/// Concludes the statuses of ListenerSets from those of their listeners.
pub(crate) fn conclude(t: &mut Translator<'_>) {
    for place in 0..t.listener_sets.len() {
        let context = &t.listener_sets[place];
        if context.conditions.is("Accepted", false) {
            continue;
        }
        let (mut accepted, mut programmed) = (Vec::new(), Vec::new());
        for listener in t.gateways.iter().flat_map(|gateway| &gateway.listeners).filter(|listener| listener.set == Some(place)) {
            accepted.push(listener.status.conditions.is("Accepted", true));
            programmed.push(listener.status.conditions.is("Programmed", true));
        }
        let all = |of: &[bool]| of.iter().all(|holds| *holds);
        let any = |of: &[bool]| of.iter().any(|holds| *holds);
        let (is_accepted, reason, message) = match (all(&accepted), any(&accepted)) {
            (true, _) => (true, "Accepted", "All listeners are accepted"),
            (false, true) => (true, "ListenersNotValid", "Some listeners are invalid"),
            _ => (false, "ListenersNotValid", "No listeners are accepted"),
        };
        let (is_programmed, why, words) = match (all(&programmed), any(&programmed)) {
            (true, _) => (true, "Programmed", "All listeners are programmed"),
            (false, true) => (true, "Programmed", "Some listeners are not programmed"),
            _ => (false, "ListenersNotValid", "No listeners are programmed"),
        };
        let gateway = context.gateway;
        let conditions = &mut t.listener_sets[place].conditions;
        conditions.set("Accepted", is_accepted, reason, message);
        conditions.set("Programmed", is_programmed, why, words);
        if is_accepted && let Some(gateway) = gateway {
            t.gateways[gateway].attached_listener_sets += 1;
        }
    }
}
