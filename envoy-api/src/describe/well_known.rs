//! The descriptions of `google.protobuf`'s own messages. prost has types for them: scalars for the wrappers, `()` for Empty.

use alloc::string::String;
use alloc::vec::Vec;

use prost_types::{Duration, FieldMask, ListValue, Struct, Timestamp};

use super::info::{Cardinality, Describe, FieldInfo, Kind, MessageInfo};
use super::value::{Field, Reflect, Value, Visitor};
use crate::Any;

macro_rules! well_known {
    ($of:ty, $name:literal, $value:ident => $as:expr, [$($key:literal, $index:literal, $kind:ident, $cardinality:ident, $field:expr;)*]) => {
        const _: () = {
            static FIELDS: &[FieldInfo] = &[
                $(FieldInfo::new($key, $index + 1, $index, Kind::$kind, Cardinality::$cardinality),)*
            ];
            static INFO: MessageInfo = MessageInfo { full_name: $name, fields: FIELDS, oneofs: &[] };

            impl Describe for $of {
                const INFO: &'static MessageInfo = &INFO;
            }

            impl Reflect for $of {
                #[inline]
                fn info(&self) -> &'static MessageInfo {
                    &INFO
                }

                #[inline]
                fn as_value(&self) -> Value<'_> {
                    let $value = self;
                    $as
                }

                fn visit(&self, _visitor: &mut dyn Visitor) {
                    let $value = self;
                    let _ = $value;
                    $(Field::put($field, _visitor, &FIELDS[$index]);)*
                }
            }
        };
    };
}

well_known!(bool, "google.protobuf.BoolValue", v => Value::Bool(*v), ["\"value\": ", 0, Bool, Implicit, v;]);
well_known!(i32, "google.protobuf.Int32Value", v => Value::I32(*v), ["\"value\": ", 0, I32, Implicit, v;]);
well_known!(i64, "google.protobuf.Int64Value", v => Value::I64(*v), ["\"value\": ", 0, I64, Implicit, v;]);
well_known!(u32, "google.protobuf.UInt32Value", v => Value::U32(*v), ["\"value\": ", 0, U32, Implicit, v;]);
well_known!(u64, "google.protobuf.UInt64Value", v => Value::U64(*v), ["\"value\": ", 0, U64, Implicit, v;]);
well_known!(f32, "google.protobuf.FloatValue", v => Value::F32(*v), ["\"value\": ", 0, F32, Implicit, v;]);
well_known!(f64, "google.protobuf.DoubleValue", v => Value::F64(*v), ["\"value\": ", 0, F64, Implicit, v;]);
well_known!(String, "google.protobuf.StringValue", v => Value::String(v), ["\"value\": ", 0, String, Implicit, v;]);
well_known!(Vec<u8>, "google.protobuf.BytesValue", v => Value::Bytes(v), ["\"value\": ", 0, Bytes, Implicit, v;]);
well_known!((), "google.protobuf.Empty", v => { let () = *v; Value::Empty }, []);
well_known!(Any, "google.protobuf.Any", v => Value::Any(v), []);
well_known!(Struct, "google.protobuf.Struct", v => Value::Struct(v), []);
well_known!(prost_types::Value, "google.protobuf.Value", v => Value::Dynamic(v), []);
well_known!(ListValue, "google.protobuf.ListValue", v => Value::DynamicList(v), []);
well_known!(FieldMask, "google.protobuf.FieldMask", v => Value::FieldMask(v), ["\"paths\": ", 0, String, Repeated, &v.paths;]);
well_known!(Duration, "google.protobuf.Duration", v => Value::Duration(v), [
    "\"seconds\": ", 0, I64, Implicit, &v.seconds;
    "\"nanos\": ", 1, I32, Implicit, &v.nanos;
]);
well_known!(Timestamp, "google.protobuf.Timestamp", v => Value::Timestamp(v), [
    "\"seconds\": ", 0, I64, Implicit, &v.seconds;
    "\"nanos\": ", 1, I32, Implicit, &v.nanos;
]);
