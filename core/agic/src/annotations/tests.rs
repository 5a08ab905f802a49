//! How annotations are read.

use super::{ALL, Annotations, BACKEND_PROTOCOL, HOSTNAME_EXTENSION, PREFIX, REQUEST_TIMEOUT, Read, SSL_REDIRECT, WAF_POLICY};
use alloc::vec::Vec;
use chancery_base::resource::ObjectId;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::{Node, Object, Str, Value};

fn with<R>(name: &'static str, value: &str, f: impl FnOnce(Annotations) -> R) -> R {
    let fields: Object = [(name, Node::synthesised(Value::String(Str::new(value))))].into_iter().collect();
    let root = Node::synthesised(Value::Object(fields));
    f(Annotations::at(Cursor::new(ObjectId::from_index(0), &root)))
}

#[test]
fn annotation_table_is_complete_and_unique() {
    let mut names: Vec<&str> = ALL.iter().map(|annotation| annotation.name).collect();
    assert_eq!(names.iter().filter(|name| name.starts_with(PREFIX)).count(), names.len() - 1);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ALL.len());
    assert!(ALL.iter().all(|annotation| !annotation.doc.is_empty() && !annotation.default.is_empty()));
}

#[test]
fn numbers_are_cut_to_32_bits() {
    let number = |text: &str| with(REQUEST_TIMEOUT.name, text, |all| all.number(&REQUEST_TIMEOUT).value().map(|number| number.value));
    assert_eq!(number("30"), Some(30));
    assert_eq!(number("+5"), Some(5));
    assert_eq!(number("-1"), Some(-1));
    assert_eq!(number("4294967297"), Some(1));
    assert_eq!(number("2147483648"), Some(-2_147_483_648));
    for wrong in ["", "1.5", "10s", " 1", "9223372036854775808", "0x10"] {
        assert_eq!(number(wrong), None, "{wrong}");
    }
}

#[test]
fn truth_values_are_those_of_go() {
    let flag = |text: &str| with(SSL_REDIRECT.name, text, |all| all.flag(&SSL_REDIRECT));
    assert!(matches!(flag("t"), Read::Value(value) if value.value));
    assert!(matches!(flag("FALSE"), Read::Value(value) if !value.value));
    let Read::Invalid(fault) = flag("yes") else { panic!("`yes` is no truth value of Go") };
    let expected =
        "Code=\"ErrorInvalidContent\" Message=\"annotation appgw.ingress.kubernetes.io/ssl-redirect does not contain a valid value (yes)\"";
    assert_eq!(fault.text(), expected);
    assert!(with(WAF_POLICY.name, "x", |all| all.flag(&SSL_REDIRECT) == Read::Absent));
}

#[test]
fn protocols_compare_without_case() {
    let https = |text: &str| with(BACKEND_PROTOCOL.name, text, |all| all.is_https(&BACKEND_PROTOCOL).value().map(|https| https.value));
    assert_eq!((https("HTTPS"), https("http"), https("grpc"), https("")), (Some(true), Some(false), None, None));
}

#[test]
fn items_are_trimmed_and_empty_text_is_present() {
    with(HOSTNAME_EXTENSION.name, " a.test ,b.test,", |all| {
        let items: Vec<Str> = all.items(&HOSTNAME_EXTENSION).into_iter().map(|item| item.value).collect();
        assert_eq!(items, Vec::from([Str::new("a.test"), Str::new("b.test"), Str::default()]));
    });
    with(WAF_POLICY.name, "", |all| {
        assert!(all.text(&WAF_POLICY).is_some());
        assert!(all.some_text(&WAF_POLICY).is_none());
    });
}
