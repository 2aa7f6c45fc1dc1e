// SPDX-License-Identifier: MIT
use std::any::Any;
use std::io;
use std::ops::ControlFlow;
use std::os::raw::c_long;
use std::panic;

use crate::sys;

/// Why a closure of the caller ended a call.
pub enum End<B> {
    Break(B),
    Panic(Box<dyn Any + Send>),
}

impl<B> End<B> {
    /// Of what the closure returned, which `catch_unwind` caught.
    pub fn of(returned: Result<ControlFlow<B>, Box<dyn Any + Send>>) -> Option<Self> {
        match returned {
            Ok(ControlFlow::Continue(())) => None,
            Ok(ControlFlow::Break(value)) => Some(Self::Break(value)),
            Err(payload) => Some(Self::Panic(payload)),
        }
    }

    /// What the call returns, of what C returned.  A panic goes on.
    pub fn result(end: Option<Self>, returned: c_long) -> io::Result<Option<B>> {
        match end {
            Some(Self::Break(value)) => Ok(Some(value)),
            Some(Self::Panic(payload)) => panic::resume_unwind(payload),
            None if returned < 0 => Err(sys::error(returned as i32)),
            None => Ok(None),
        }
    }
}
