//! The worker that has all dialects: for an input of several.
//!
//! What must not be here: what a worker does.

chancery_web::worker!(ambassador, contour, ingress, consul);
