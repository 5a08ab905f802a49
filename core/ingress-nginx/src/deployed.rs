//! Finds the controller's flags in workloads of the input.
//!
//! Does not apply the flags, because a cluster may run several controllers; the host program passes flags as options.

use super::options::Options;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::Objects;
use chancery_text::Node;

/// The path of the controller's program in its image.
pub const PROGRAM: &str = "/nginx-ingress-controller";

/// Returns the flags of the controllers that the objects run, except flags that do not change any response.
pub fn deployed_flags(objects: &Objects) -> Vec<String> {
    let mut out = Vec::new();
    for object in objects.iter().filter(|object| !object.broken && matches!(object.key.kind.as_str(), "Deployment" | "DaemonSet")) {
        let namespace = object.key.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or("default");
        let containers = object.root.at(&["spec", "template", "spec", "containers"]).and_then(Node::as_array);
        for container in containers.into_iter().flatten() {
            let words = |field: &str| container.get(field).and_then(Node::as_array).into_iter().flatten().filter_map(Node::as_str);
            let all: Vec<&str> = words("command").chain(words("args")).collect();
            if !all.iter().any(|word| word.ends_with(PROGRAM)) {
                continue;
            }
            let flags = all.iter().filter(|word| word.starts_with('-')).map(|flag| flag.replace("$(POD_NAMESPACE)", namespace));
            for flag in flags.filter(|flag| Options::is_changed_by(flag)) {
                if !out.contains(&flag) {
                    out.push(flag);
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::deployed_flags;
    use chancery_base::read::{DocumentCache, ReadOptions, read};
    use chancery_base::resource::Inputs;

    #[test]
    fn deployed_flags_finds_effective_flags() {
        let text = "apiVersion: apps/v1
kind: Deployment
metadata: {name: c, namespace: ingress-nginx}
spec:
  template:
    spec:
      containers:
      - name: controller
        args: [/nginx-ingress-controller, --election-id=a, --configmap=$(POD_NAMESPACE)/ingress-nginx-controller, --controller-class=k8s.io/ingress-nginx, --enable-ssl-passthrough, --default-ssl-certificate=$(POD_NAMESPACE)/a]
      - {name: other, args: [--default-backend-service=a/b]}
";
        let (objects, _) = read(&Inputs::one("a.yaml", text), &ReadOptions::default(), &mut DocumentCache::default());
        assert_eq!(deployed_flags(&objects), ["--enable-ssl-passthrough", "--default-ssl-certificate=ingress-nginx/a"]);
    }
}
