//! Lists the outputs of Contour other than the configuration of Envoys, by their command-line names.

use chancery_base::compilation::Output;

/// All of it.
pub const ALL: &[Output] = &[
    Output {
        name: "status",
        doc: "The statuses of objects that the controller writes",
        document: |of| of.side.answers.status_document(),
        traced: None,
    },
    Output {
        name: "admission",
        doc: "The objects that the API server refuses, and why",
        document: |of| of.side.answers.admission_document(),
        traced: None,
    },
    Output { name: "error", doc: "Why the controller does not serve, if it fails", document: |of| of.side.answers.failure_document(), traced: None },
    Output {
        name: "contourconfiguration",
        doc: "Contour's own configuration: from flags and file, and the effective one",
        document: |of| of.side.answers.configuration_document(),
        traced: None,
    },
    Output {
        name: "provisioned",
        doc: "The objects that the Gateway provisioner creates",
        document: |of| of.side.answers.created_document(),
        traced: None,
    },
    Output {
        name: "life",
        doc: "Whether Contour serves with its own configuration, waits or uses defaults; the configuration's status and finalizer, and the \
              settings whose change makes Contour start again",
        document: |of| of.side.answers.controller_state_document("contourConfiguration"),
        traced: None,
    },
];
