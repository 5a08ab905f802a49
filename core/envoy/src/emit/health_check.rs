//! Emits `HealthCheck`: active health checks of a cluster.

use super::base::{duration, headers_to_add, headers_to_remove, text};
use super::{Context, pb};
use chancery_base::ir::{HealthCheck, HealthChecker};
use chancery_base::output_map::Trace;
use pb::base::health_check::{self as check, HealthChecker as Checker};

pub(super) fn health_check(of: &HealthCheck, cx: &Context<'_>, t: &mut Trace) -> pb::base::HealthCheck {
    pb::base::HealthCheck {
        timeout: Some(duration(t.field("timeout", &of.timeout))),
        interval: Some(duration(t.field("interval", &of.interval))),
        healthy_threshold: Some(*t.field("healthy_threshold", &of.healthy_threshold)),
        unhealthy_threshold: Some(*t.field("unhealthy_threshold", &of.unhealthy_threshold)),
        health_checker: Some(checker(&of.checker, cx, t)),
        ..Default::default()
    }
}

fn checker(checker: &HealthChecker, cx: &Context<'_>, t: &mut Trace) -> Checker {
    match checker {
        HealthChecker::Tcp => Checker::TcpHealthCheck(t.own("tcp_health_check", check::TcpHealthCheck::default())),
        HealthChecker::Http { http2, path, host, headers, expected_statuses } => {
            Checker::HttpHealthCheck(t.at("http_health_check", |t| check::HttpHealthCheck {
                path: text(t.field("path", path)),
                codec_client_type: t.optional("codec_client_type", http2).map(|()| pb::kind::CodecClientType::Http2 as i32).unwrap_or_default(),
                host: t.optional("host", host).map(text).unwrap_or_default(),
                request_headers_to_add: headers_to_add("request_headers_to_add", headers, cx, t),
                request_headers_to_remove: headers_to_remove("request_headers_to_remove", headers, t),
                expected_statuses:
                    t.sourced_list("expected_statuses", expected_statuses, |(start, end), _| pb::kind::Int64Range { start: *start, end: *end }),
                ..Default::default()
            }))
        }
        HealthChecker::Grpc { service_name, authority } => Checker::GrpcHealthCheck(t.at("grpc_health_check", |t| check::GrpcHealthCheck {
            service_name: text(t.implicit("service_name", service_name)),
            authority: t.optional("authority", authority).map(text).unwrap_or_default(),
            ..Default::default()
        })),
    }
}
