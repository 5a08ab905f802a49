//! Computes the installation id, which distinguishes installations of Emissary: a hash of the cluster and of
//! `AMBASSADOR_ID`.

use chancery_core::compilation::Options;
use chancery_core::dialect::ambassador;
use uuid::Uuid;

/// The root if the id of the namespace is unknown.
const UNKNOWN_ROOT: &str = "00000000-0000-0000-0000-000000000000";

/// Returns the installation id. `root` is the id of the namespace that identifies the cluster.
#[must_use]
pub fn id(options: &Options, root: Option<&str>) -> String {
    let environment = ambassador::Options::of(options);
    let given = ["AMBASSADOR_CLUSTER_ID", "AMBASSADOR_SCOUT_ID"].into_iter().find_map(|name| environment.variable(name));
    if let Some(given) = given {
        return given.to_owned();
    }
    let name = format!("d6e_id://{}/{}", root.unwrap_or(UNKNOWN_ROOT), environment.ambassador_id);
    Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chancery_core::compilation::OptionValue;

    #[test]
    fn installation_id_follows_cluster_and_ambassador_id() {
        // `uuid.uuid5(uuid.NAMESPACE_URL, "d6e_id://00000000-0000-0000-0000-000000000000/default")` in Python.
        let unknown = id(&Options::default(), None);
        assert_eq!(unknown, "07eb43c8-1166-5145-a060-45e4dd907e10");
        let mut options = Options::default();
        options.insert("ambassador-id", OptionValue::Text("edge".into()));
        assert_eq!(id(&options, Some("1b4e28ba-2fa1-11d2-883f-0016d3cca427")), "702d31c5-d618-565a-8258-3c9c4b9c36fc");
    }
}
