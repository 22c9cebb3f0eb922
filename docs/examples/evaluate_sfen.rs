// SPDX-License-Identifier: GPL-3.0-or-later
// Prints the evaluation of each SFEN, from the view of the side to move: evaluate_sfen_rs WEIGHTS SFEN...
use std::ffi::{c_char, CStr, CString};
use std::marker::PhantomData;

/// The functions and types of lite_c.h.
mod ffi {
    use std::ffi::c_char;

    #[repr(C)]
    pub struct Network {
        _private: [u8; 0],
    }

    #[repr(C)]
    pub struct Evaluator {
        _private: [u8; 0],
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Placement {
        pub board: [u8; 81],
        pub hands: [[u8; 7]; 2],
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Position {
        pub placement: Placement,
        pub turn: i32,
        pub in_check: i32,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Value {
        pub centipawns: i32,
        pub win: f64,
        pub draw: f64,
    }

    extern "C" {
        pub fn lite_load(path: *const c_char, error: *mut c_char, size: usize) -> *mut Network;
        pub fn lite_free(network: *mut Network);
        pub fn lite_new_evaluator(network: *const Network) -> *mut Evaluator;
        pub fn lite_free_evaluator(evaluator: *mut Evaluator);
        pub fn lite_refresh(evaluator: *mut Evaluator, placement: *const Placement);
        pub fn lite_evaluate(evaluator: *mut Evaluator, mover: i32, in_check: i32) -> Value;
        pub fn lite_read_sfen(sfen: *const c_char, position: *mut Position, error: *mut c_char, size: usize) -> i32;
    }
}

/// Buffer for the reason of a failure.
struct Reason([c_char; 256]);

impl Reason {
    fn text(&self) -> String {
        unsafe { CStr::from_ptr(self.0.as_ptr()) }.to_string_lossy().into_owned()
    }
}

/// The weights, freed at the end of the scope.
struct Network(*mut ffi::Network);

// Loaded once and never changed: threads may share it.
unsafe impl Send for Network {}
unsafe impl Sync for Network {}

impl Network {
    fn load(path: &str) -> Result<Network, String> {
        let path = CString::new(path).map_err(|error| error.to_string())?;
        let mut reason = Reason([0; 256]);
        let network = unsafe { ffi::lite_load(path.as_ptr(), reason.0.as_mut_ptr(), reason.0.len()) };
        if network.is_null() { Err(reason.text()) } else { Ok(Network(network)) }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        unsafe { ffi::lite_free(self.0) }
    }
}

/// The sums of one thread; cannot outlive its network.
struct Evaluator<'a>(*mut ffi::Evaluator, PhantomData<&'a Network>);

impl<'a> Evaluator<'a> {
    fn new(network: &'a Network) -> Evaluator<'a> {
        let evaluator = unsafe { ffi::lite_new_evaluator(network.0) };
        assert!(!evaluator.is_null(), "memory is short");
        Evaluator(evaluator, PhantomData)
    }

    fn evaluate(&mut self, position: &ffi::Position) -> ffi::Value {
        unsafe {
            ffi::lite_refresh(self.0, &position.placement);
            ffi::lite_evaluate(self.0, position.turn, position.in_check)
        }
    }
}

impl Drop for Evaluator<'_> {
    fn drop(&mut self) {
        unsafe { ffi::lite_free_evaluator(self.0) }
    }
}

fn read_sfen(sfen: &str) -> Result<ffi::Position, String> {
    let text = CString::new(sfen).map_err(|error| error.to_string())?;
    let mut reason = Reason([0; 256]);
    let mut position = ffi::Position {
        placement: ffi::Placement { board: [28; 81], hands: [[0; 7]; 2] },
        turn: 0,
        in_check: 0,
    };
    let read =
        unsafe { ffi::lite_read_sfen(text.as_ptr(), &mut position, reason.0.as_mut_ptr(), reason.0.len()) };
    if read == 1 { Ok(position) } else { Err(format!("{sfen}: {}", reason.text())) }
}

fn evaluate_all(weights: &str, sfens: &[String]) -> Result<(), String> {
    let network = Network::load(weights)?;
    let mut evaluator = Evaluator::new(&network);
    for sfen in sfens {
        let value = evaluator.evaluate(&read_sfen(sfen)?);
        print!("{} cp, win probability {:.6}", value.centipawns, value.win);
        if value.draw >= 0.0 {
            print!(", draw probability {:.6}", value.draw);
        }
        println!();
    }
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.len() < 2 {
        eprintln!("usage: evaluate_sfen_rs WEIGHTS SFEN...");
        std::process::exit(2);
    }
    if let Err(reason) = evaluate_all(&arguments[0], &arguments[1..]) {
        eprintln!("{reason}");
        std::process::exit(1);
    }
}
