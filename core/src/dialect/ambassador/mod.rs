//! Ambassador / Emissary-ingress: the `getambassador.io` kinds and what its controller makes of them.

pub mod kinds;
