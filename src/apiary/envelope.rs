//! The envelope of requests and responses.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::item::Items;

/// The longest request, in bytes: 16 MiB.
pub const REQUEST_LIMIT_BYTES: usize = 16 * 1024 * 1024;
/// The longest response that the host takes, in bytes: 4 MiB.
pub const RESPONSE_LIMIT_BYTES: usize = 4 * 1024 * 1024;
/// The longest request id, in bytes of JSON: it is echoed, and must leave room for the items.
const REQUEST_ID_LIMIT_BYTES: usize = 64 * 1024;
/// What a response has around its request id and its items, in bytes, and more.
const AROUND_BYTES: usize = 1_024;

const PROTOCOL: u64 = 1;
const CAPABILITY: &str = "source";

/// The bytes are no request, so there is nobody to answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportFault {
    /// There are none.
    #[error("there is no request on standard input")]
    Empty,
    /// There are too many.
    #[error("the request is longer than {REQUEST_LIMIT_BYTES} bytes")]
    TooLong,
    /// They are no JSON object.
    #[error("the request is not a JSON object")]
    NoObject,
    /// They are not JSON, more follows the object, or it is no envelope.
    #[error("the request cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// Its id is too long to be echoed.
    #[error("the request id is longer than {REQUEST_ID_LIMIT_BYTES} bytes")]
    LongId,
    /// Its id is null, which is no id.
    #[error("the request id is null")]
    NoId,
}

/// A request. Whatever is not asked for by name is refused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request<'a> {
    protocol: Option<serde_json::Number>,
    #[serde(borrow)]
    request_id: &'a RawValue,
    capability: Option<String>,
    method: Option<String>,
    #[serde(borrow)]
    pub(super) config: Option<&'a RawValue>,
    #[serde(rename = "payload")]
    _payload: Option<IgnoredAny>,
}

/// What may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// What is due?
    Poll,
    /// Take note of an item or of what came of it.
    Acknowledge,
}

/// A good answer.
#[derive(Debug)]
pub(super) enum Answer {
    Items(Items),
    Taken,
}

/// The codes of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    UnsupportedProtocol,
    UnsupportedCapability,
    UnsupportedMethod,
    InvalidConfig,
    PollFailed,
}

/// An answer that says no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: Code,
    pub(super) message: String,
}

#[derive(Serialize)]
struct Response<'a, R: Serialize> {
    protocol: u64,
    request_id: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody<'a>>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    code: &'static str,
    message: &'a str,
}

#[derive(Serialize)]
struct Taken {
    ok: bool,
}

impl<'a> Request<'a> {
    /// Reads a request.
    pub(super) fn decode(bytes: &'a [u8]) -> Result<Request<'a>, TransportFault> {
        if bytes.len() > REQUEST_LIMIT_BYTES {
            return Err(TransportFault::TooLong);
        }
        match bytes.trim_ascii_start().first() {
            None => return Err(TransportFault::Empty),
            // An array would be taken for the fields in their order.
            Some(first) if *first != b'{' => return Err(TransportFault::NoObject),
            Some(_) => {}
        }
        let request: Request<'a> = serde_json::from_slice(bytes)?;
        match request.request_id.get() {
            "null" => Err(TransportFault::NoId),
            id if id.len() > REQUEST_ID_LIMIT_BYTES => Err(TransportFault::LongId),
            _ => Ok(request),
        }
    }

    /// What it asks, checked in the order of the protocol.
    pub(super) fn method(&self) -> Result<Method, Refusal> {
        let refuse = |code, message| Err(Refusal { code, message });
        let protocol = self.protocol.as_ref();
        if protocol.and_then(serde_json::Number::as_u64) != Some(PROTOCOL) {
            let given = protocol.map_or_else(|| "none".to_owned(), |number| format!("`{number}`"));
            let message =
                format!("this plugin speaks protocol {PROTOCOL}, and the request {given}");
            return refuse(Code::UnsupportedProtocol, message);
        }
        let named = |name: &Option<String>| match name {
            Some(name) => format!("`{name}`"),
            None => "none".to_owned(),
        };
        if self.capability.as_deref() != Some(CAPABILITY) {
            let given = named(&self.capability);
            let message = format!("this plugin is a `{CAPABILITY}`, and the request names {given}");
            return refuse(Code::UnsupportedCapability, message);
        }
        match self.method.as_deref() {
            Some("poll") => Ok(Method::Poll),
            Some("acknowledge" | "write_result") => Ok(Method::Acknowledge),
            _ => {
                let given = named(&self.method);
                let message = format!(
                    "a source has the methods `poll`, `acknowledge` and `write_result`, and the request names {given}"
                );
                refuse(Code::UnsupportedMethod, message)
            }
        }
    }

    /// How many bytes of a response are left for items.
    pub(super) fn room_bytes(&self) -> usize {
        RESPONSE_LIMIT_BYTES - AROUND_BYTES - self.request_id.get().len()
    }

    /// The response to it, with its request id as it was given.
    pub(super) fn response(&self, outcome: &Result<Answer, Refusal>) -> Vec<u8> {
        match outcome {
            Ok(Answer::Items(items)) => self.encode(Some(items), None),
            Ok(Answer::Taken) => self.encode(Some(Taken { ok: true }), None),
            Err(Refusal { code, message }) => {
                let error = ErrorBody { code: code.as_str(), message };
                self.encode::<Taken>(None, Some(error))
            }
        }
    }

    fn encode<R: Serialize>(&self, result: Option<R>, error: Option<ErrorBody<'_>>) -> Vec<u8> {
        let response = Response { protocol: PROTOCOL, request_id: self.request_id, result, error };
        // Strings, numbers and lists of them can always be written to a buffer.
        let mut bytes = serde_json::to_vec(&response).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

impl Code {
    const fn as_str(self) -> &'static str {
        match self {
            Code::UnsupportedProtocol => "unsupported_protocol",
            Code::UnsupportedCapability => "unsupported_capability",
            Code::UnsupportedMethod => "unsupported_method",
            Code::InvalidConfig => "invalid_config",
            Code::PollFailed => "poll_failed",
        }
    }
}
