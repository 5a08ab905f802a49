//! Reads messages whose type is in their JSON.

use alloc::borrow::Cow;
use alloc::string::ToString as _;

use super::reader::{Element, Maybe, ProblemKind, Reader};
use super::tokens::{Start, Stop, Tokens};
use crate::Any;
use crate::describe::FieldInfo;
use crate::registry;

impl Element for Any {
    fn read(reader: &mut Reader<'_>, _: Option<&'static FieldInfo>) -> Maybe<Self> {
        reader.any()
    }
}

impl<'t> Reader<'t> {
    /// Reads an `Any`.
    fn any(&mut self) -> Result<Option<Any>, Stop> {
        if self.tokens.start()? != Start::Object {
            self.wrong("an object")?;
            return Ok(None);
        }
        let Some(url) = self.type_url()? else {
            let empty = self.tokens.raw()? == "{}";
            if !empty {
                self.problem(ProblemKind::WrongType, "must have an \"@type\"".to_string());
            }
            return Ok(empty.then(Any::default));
        };
        let name = url.rsplit('/').next().unwrap_or_default();
        match registry::find(name) {
            Some(entry) if entry.is_message() => {
                self.typed = true;
                entry.read(self).map(Some)
            }
            Some(entry) => self.any_value(entry).map(Some),
            None => {
                self.problem(ProblemKind::UnknownType, alloc::format!("{name:?} is not a known type"));
                let fields = self.tokens.raw()?;
                Ok(Some(Any::unknown_json(url.into_owned(), fields)))
            }
        }
    }

    /// Returns the `@type` of the next object, wherever it is in the object.
    fn type_url(&mut self) -> Result<Option<Cow<'t, str>>, Stop> {
        fn found<'t>(ahead: &mut Tokens<'t>) -> Result<Option<Cow<'t, str>>, Stop> {
            ahead.open()?;
            let mut first = true;
            while ahead.more(&mut first, b'}')? {
                if ahead.key()? == "@type" && ahead.start()? == Start::String {
                    return ahead.string().map(Some);
                }
                ahead.skip()?;
            }
            Ok(None)
        }
        let mut ahead = self.tokens.clone();
        let url = found(&mut ahead);
        if url.is_err() {
            self.tokens = ahead;
        }
        url
    }

    /// Reads the member `value` of an `Any` whose type is not written as an object.
    fn any_value(&mut self, entry: &'static registry::Entry) -> Result<Any, Stop> {
        let mut found = None;
        self.tokens.open()?;
        let mut first = true;
        while self.tokens.more(&mut first, b'}')? {
            if self.tokens.key()? == "value" {
                self.path.name("value");
                found = Some(entry.read(self)?);
                self.path.leave();
            } else {
                self.tokens.skip()?;
            }
        }
        Ok(found.unwrap_or_else(|| entry.empty()))
    }
}
