//! Defines the parts of a pod's specification that other kinds use: volumes, resources, tolerations, strategies.
//!
//! Kubernetes `k8s.io/api/core/v1` and `apps/v1`, as CRDs contain them, without the API server's defaults for its own kinds.

use chancery_base::object;
use chancery_base::schema::{BOOLEAN, Field, INT_OR_STRING, INTEGER, Literal, STRING, STRING_MAP, STRINGS, Schema, array, field, map, quantity};

const INT32: Schema = INTEGER.int32();

/// A label selector.
pub const SELECTOR: Schema = object![
    field("matchExpressions", array(&MATCH_EXPRESSION), "Rules for labels; all must hold"),
    field("matchLabels", STRING_MAP, "Labels that must be there with these values"),
];
const MATCH_EXPRESSION: Schema = object![
    field("key", STRING, "The label").required(),
    field("operator", STRING, "`In`, `NotIn`, `Exists` or `DoesNotExist`").required(),
    field("values", STRINGS, "The values, for `In` and `NotIn`"),
];

/// How a Deployment replaces its pods.
pub const DEPLOYMENT_STRATEGY: Schema = object![ROLLING_UPDATE, field("type", STRING, "`RollingUpdate` or `Recreate`")];
/// How a DaemonSet replaces its pods.
pub const DAEMON_SET_STRATEGY: Schema = object![ROLLING_UPDATE, field("type", STRING, "`RollingUpdate` or `OnDelete`")];
const ROLLING_UPDATE: Field = field(
    "rollingUpdate",
    object![
        field("maxSurge", INT_OR_STRING, "How many more pods there may be meanwhile, as a number or in percent"),
        field("maxUnavailable", INT_OR_STRING, "How many pods may be away meanwhile, as a number or in percent"),
    ],
    "Settings for `RollingUpdate`",
);

/// Node taints that a pod tolerates.
pub const TOLERATIONS: Schema = array(&TOLERATION);
const TOLERATION: Schema = object![
    field("effect", STRING, "`NoSchedule`, `PreferNoSchedule` or `NoExecute`; all unless set"),
    field("key", STRING, "The taint's key; all unless set"),
    field("operator", STRING, "`Equal` or `Exists`"),
    field("tolerationSeconds", INTEGER, "For how long, with `NoExecute`"),
    field("value", STRING, "The taint's value"),
];

/// The resources that a container requests, and their limits.
pub const RESOURCES: Schema = object![field("claims", array(&CLAIM).keyed_by(&["name"]), "Claims of devices"), LIMITS, REQUESTS,];
const CLAIM: Schema = object![field("name", STRING, "The claim").required(), field("request", STRING, "The request in it; all unless set")];
const QUANTITY: Schema =
    quantity(r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$");
const LIMITS: Field = field("limits", map(&QUANTITY), "How much it may use, by resource");
const REQUESTS: Field = field("requests", map(&QUANTITY), "How much it needs, by resource");

/// Where volumes are mounted in a container.
pub const VOLUME_MOUNTS: Schema = array(&VOLUME_MOUNT);
const VOLUME_MOUNT: Schema = object![
    field("mountPath", STRING, "Where").required(),
    field("mountPropagation", STRING, "Whether mounts in it are seen outside"),
    field("name", STRING, "The volume").required(),
    field("readOnly", BOOLEAN, "Whether it can only be read"),
    field("recursiveReadOnly", STRING, "Whether mounts in it can only be read"),
    field("subPath", STRING, "Only this part of the volume"),
    field("subPathExpr", STRING, "Only this part of the volume, with variables"),
];

/// Volumes of a pod.
pub const VOLUMES: Schema = array(&VOLUME);
const VOLUME: Schema = object![
    field("awsElasticBlockStore", object![FS_TYPE, PARTITION, READ_ONLY, VOLUME_ID], "A disk of AWS"),
    field(
        "azureDisk",
        object![
            field("cachingMode", STRING, "How it is cached"),
            field("diskName", STRING, "The disk").required(),
            field("diskURI", STRING, "The disk's URI").required(),
            field("fsType", STRING.default(Literal::Str("ext4")), "The file system"),
            field("kind", STRING, "Which kind of disk"),
            field("readOnly", BOOLEAN.default(Literal::Bool(false)), "Whether it can only be read"),
        ],
        "A disk of Azure"
    ),
    field(
        "azureFile",
        object![READ_ONLY, field("secretName", STRING, "The Secret").required(), field("shareName", STRING, "The share").required()],
        "A share of Azure Files"
    ),
    field(
        "cephfs",
        object![MONITORS, PATH, READ_ONLY, field("secretFile", STRING, "The file with the key"), SECRET_REF, USER],
        "A file system of Ceph"
    ),
    field("cinder", object![FS_TYPE, READ_ONLY, SECRET_REF, VOLUME_ID], "A volume of OpenStack"),
    field("configMap", object![DEFAULT_MODE, ITEMS, NAME_OR_EMPTY, OPTIONAL], "The values of a ConfigMap"),
    field(
        "csi",
        object![
            DRIVER,
            FS_TYPE,
            field("nodePublishSecretRef", LOCAL_REFERENCE, "The Secret"),
            READ_ONLY,
            field("volumeAttributes", STRING_MAP, "Settings of the driver"),
        ],
        "A volume of a CSI driver"
    ),
    field("downwardAPI", object![DEFAULT_MODE, DOWNWARD_ITEMS], "Fields of the pod"),
    field(
        "emptyDir",
        object![field("medium", STRING, "`Memory` for memory"), field("sizeLimit", QUANTITY, "How large it may get")],
        "An empty directory"
    ),
    field(
        "ephemeral",
        object![field(
            "volumeClaimTemplate",
            object![field("metadata", object![], "Labels and annotations"), field("spec", CLAIM_SPEC, "The claim").required()],
            "The claim that is made"
        )],
        "A volume that lives as long as the pod"
    ),
    field(
        "fc",
        object![
            FS_TYPE,
            field("lun", INT32, "The number of the unit"),
            READ_ONLY,
            field("targetWWNs", STRINGS, "Names of targets"),
            field("wwids", STRINGS, "Identifiers of volumes"),
        ],
        "A volume over Fibre Channel"
    ),
    field("flexVolume", object![DRIVER, FS_TYPE, field("options", STRING_MAP, "Settings of the driver"), READ_ONLY, SECRET_REF], "Not used any more"),
    field("flocker", object![field("datasetName", STRING, "The dataset"), field("datasetUUID", STRING, "The dataset's number")], "Not used any more"),
    field("gcePersistentDisk", object![FS_TYPE, PARTITION, field("pdName", STRING, "The disk").required(), READ_ONLY], "A disk of Google Cloud"),
    field(
        "gitRepo",
        object![
            field("directory", STRING, "Where in the volume"),
            field("repository", STRING, "The repository").required(),
            field("revision", STRING, "The commit"),
        ],
        "Not used any more"
    ),
    field("glusterfs", object![field("endpoints", STRING, "The Endpoints").required(), PATH.required(), READ_ONLY], "Not used any more"),
    field("hostPath", object![PATH.required(), field("type", STRING, "What must be there")], "A file or directory of the node"),
    field("image", object![field("pullPolicy", STRING, "When it is fetched"), field("reference", STRING, "The image")], "The content of an image"),
    field("iscsi", ISCSI, "A volume over iSCSI"),
    field("name", STRING, "The volume").required(),
    field("nfs", object![PATH.required(), READ_ONLY, field("server", STRING, "The server").required()], "A share over NFS"),
    field("persistentVolumeClaim", object![field("claimName", STRING, "The claim").required(), READ_ONLY], "A volume by its claim"),
    field("photonPersistentDisk", object![FS_TYPE, field("pdID", STRING, "The disk").required()], "Not used any more"),
    field("portworxVolume", object![FS_TYPE, READ_ONLY, VOLUME_ID], "A volume of Portworx"),
    field("projected", object![DEFAULT_MODE, field("sources", array(&SOURCE), "The sources")], "Several sources in one"),
    field(
        "quobyte",
        object![
            field("group", STRING, "The group"),
            READ_ONLY,
            field("registry", STRING, "The registry").required(),
            field("tenant", STRING, "The tenant"),
            USER,
            field("volume", STRING, "The volume").required(),
        ],
        "Not used any more"
    ),
    field(
        "rbd",
        object![
            FS_TYPE,
            field("image", STRING, "The image").required(),
            field("keyring", STRING.default(Literal::Str("/etc/ceph/keyring")), "The file with keys"),
            MONITORS,
            field("pool", STRING.default(Literal::Str("rbd")), "The pool"),
            READ_ONLY,
            SECRET_REF,
            field("user", STRING.default(Literal::Str("admin")), "The user"),
        ],
        "A block device of Ceph"
    ),
    field("scaleIO", SCALE_IO, "Not used any more"),
    field("secret", object![DEFAULT_MODE, ITEMS, OPTIONAL, field("secretName", STRING, "The Secret")], "The values of a Secret"),
    field(
        "storageos",
        object![
            FS_TYPE,
            READ_ONLY,
            SECRET_REF,
            field("volumeName", STRING, "The volume"),
            field("volumeNamespace", STRING, "Its namespace in StorageOS"),
        ],
        "Not used any more"
    ),
    field(
        "vsphereVolume",
        object![
            FS_TYPE,
            field("storagePolicyID", STRING, "The number of the storage policy"),
            field("storagePolicyName", STRING, "The storage policy"),
            field("volumePath", STRING, "The volume").required(),
        ],
        "A disk of vSphere"
    ),
];

const FS_TYPE: Field = field("fsType", STRING, "The file system");
const READ_ONLY: Field = field("readOnly", BOOLEAN, "Whether it can only be read");
const PARTITION: Field = field("partition", INT32, "The partition");
const VOLUME_ID: Field = field("volumeID", STRING, "The volume").required();
const MONITORS: Field = field("monitors", STRINGS, "The monitors").required();
const PATH: Field = field("path", STRING, "The path");
const USER: Field = field("user", STRING, "The user");
const DRIVER: Field = field("driver", STRING, "The driver").required();
const OPTIONAL: Field = field("optional", BOOLEAN, "Whether it may be missing");
const NAME_OR_EMPTY: Field = field("name", STRING.default(Literal::Str("")), "Its name");
const LOCAL_REFERENCE: Schema = object![NAME_OR_EMPTY];
const SECRET_REF: Field = field("secretRef", LOCAL_REFERENCE, "The Secret");
const DEFAULT_MODE: Field = field("defaultMode", INT32, "The default mode of the files");
const MODE: Field = field("mode", INT32, "The file's mode");
const ITEMS: Field = field(
    "items",
    array(&object![field("key", STRING, "The key").required(), MODE, field("path", STRING, "The file").required(),]),
    "Only these keys, each in its file",
);
const DOWNWARD_ITEMS: Field = field("items", array(&DOWNWARD_ITEM), "The files");
const DOWNWARD_ITEM: Schema = object![
    field(
        "fieldRef",
        object![field("apiVersion", STRING, "The version of the field"), field("fieldPath", STRING, "The field").required()],
        "A field of the pod"
    ),
    MODE,
    field("path", STRING, "The file").required(),
    field(
        "resourceFieldRef",
        object![
            field("containerName", STRING, "The container"),
            field("divisor", QUANTITY, "The unit"),
            field("resource", STRING, "The resource").required(),
        ],
        "A resource of a container"
    ),
];

const CLAIM_SPEC: Schema = object![
    field("accessModes", STRINGS, "How it is used"),
    field("dataSource", object![API_GROUP, KIND, NAME], "What it begins with"),
    field("dataSourceRef", object![API_GROUP, KIND, NAME, field("namespace", STRING, "Its namespace")], "What it begins with"),
    field("resources", object![LIMITS, REQUESTS], "How large it is"),
    field("selector", SELECTOR, "Which volumes will do"),
    field("storageClassName", STRING, "The storage class"),
    field("volumeAttributesClassName", STRING, "The class of its attributes"),
    field("volumeMode", STRING, "`Filesystem` or `Block`"),
    field("volumeName", STRING, "The volume"),
];
const API_GROUP: Field = field("apiGroup", STRING, "The group of its kind");
const KIND: Field = field("kind", STRING, "Its kind").required();
const NAME: Field = field("name", STRING, "Its name").required();

const ISCSI: Schema = object![
    field("chapAuthDiscovery", BOOLEAN, "Whether CHAP is used to find targets"),
    field("chapAuthSession", BOOLEAN, "Whether CHAP is used for sessions"),
    FS_TYPE,
    field("initiatorName", STRING, "The initiator"),
    field("iqn", STRING, "The target").required(),
    field("iscsiInterface", STRING.default(Literal::Str("default")), "The interface"),
    field("lun", INT32, "The number of the unit").required(),
    field("portals", STRINGS, "More portals"),
    READ_ONLY,
    SECRET_REF,
    field("targetPortal", STRING, "The portal").required(),
];

const SCALE_IO: Schema = object![
    field("fsType", STRING.default(Literal::Str("xfs")), "The file system"),
    field("gateway", STRING, "The gateway").required(),
    field("protectionDomain", STRING, "The protection domain"),
    READ_ONLY,
    SECRET_REF.required(),
    field("sslEnabled", BOOLEAN, "Whether TLS is spoken"),
    field("storageMode", STRING.default(Literal::Str("ThinProvisioned")), "How it is stored"),
    field("storagePool", STRING, "The pool"),
    field("system", STRING, "The system").required(),
    field("volumeName", STRING, "The volume"),
];

const SOURCE: Schema = object![
    field(
        "clusterTrustBundle",
        object![
            field("labelSelector", SELECTOR, "Which bundles"),
            field("name", STRING, "The bundle"),
            OPTIONAL,
            field("path", STRING, "The file").required(),
            field("signerName", STRING, "The signer"),
        ],
        "CAs of the cluster"
    ),
    field("configMap", object![ITEMS, NAME_OR_EMPTY, OPTIONAL], "The values of a ConfigMap"),
    field("downwardAPI", object![DOWNWARD_ITEMS], "Fields of the pod"),
    field(
        "podCertificate",
        object![
            field("certificateChainPath", STRING, "The file for certificates"),
            field("credentialBundlePath", STRING, "The file for certificates and key"),
            field("keyPath", STRING, "The file for the key"),
            field("keyType", STRING, "The kind of key").required(),
            field("maxExpirationSeconds", INT32, "How long it may be valid"),
            field("signerName", STRING, "The signer").required(),
            field("userAnnotations", STRING_MAP, "Annotations for the signer"),
        ],
        "A certificate of the pod"
    ),
    field("secret", object![ITEMS, NAME_OR_EMPTY, OPTIONAL], "The values of a Secret"),
    field(
        "serviceAccountToken",
        object![
            field("audience", STRING, "The audience of the token"),
            field("expirationSeconds", INTEGER, "How long it is valid"),
            field("path", STRING, "The file").required(),
        ],
        "A token of the service account"
    ),
];
