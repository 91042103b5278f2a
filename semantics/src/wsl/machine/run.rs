//! Execution of code.

use super::code::{BUFFERS, Binary, Code, GROUP, Instruction, Modify, OWN, Test, Unary};
use super::lanes::{self, Chooser};
use super::{Memory, quad, texture};
use crate::outcome::{Limit, TimeLimit};
use crate::wsl::library::Meaning;

/// A thread: its memory, its current instruction and its unfinished calls.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub words: Vec<u32>,
    pub at: u32,
    /// The instructions of the calls that have not returned, outermost first.
    pub calls: Vec<u32>,
    pub chooser: Chooser,
    pub stage: InDraw,
}

/// The part of a thread in a draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InDraw {
    /// Its place in its quad, x + 2·y. `None` for a vertex.
    pub lane: Option<usize>,
    /// Whether it is a helper, whose stores to device memory have no effect (ERRATA WSL-D29).
    pub helper: bool,
    /// Whether a device may disagree on `helper`: a helper may be a fragment there, or a fragment
    /// a helper.
    pub doubtful: bool,
}

/// The data that threads share.
#[derive(Debug)]
pub(super) struct Shared<'a, 'm> {
    pub group: Vec<u32>,
    pub memory: &'a mut Memory<'m>,
    pub fuel: u64,
    /// The time limit, if any.
    pub time: Option<TimeLimit>,
    pub nodes: u64,
}

/// Why a thread stopped. The thread is at the instruction that stopped it. After a barrier or an
/// operation over the quad, it goes on at the next instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Returned,
    Discarded,
    Barrier,
    /// At an operation over its quad.
    Quad,
    /// It met an unspecified value, and none is chosen.
    Open,
    OutOfFuel,
    Limit(Limit),
    /// It is in a state that no valid program and no valid memory leads to.
    Stuck(&'static str),
}

/// The bits of a float. Every NaN becomes the same NaN.
#[inline(always)]
fn float(x: f32) -> u32 {
    if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() }
}

#[inline(always)]
fn as_f32(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// False if an operand is NaN.
#[inline(always)]
fn less(a: u32, b: u32) -> bool {
    as_f32(a) < as_f32(b)
}

/// False if an operand is NaN.
#[inline(always)]
fn less_equal(a: u32, b: u32) -> bool {
    as_f32(a) <= as_f32(b)
}

#[inline(always)]
fn test(test: Test, a: u32, b: u32) -> bool {
    match test {
        Test::Equal => a == b,
        Test::NotEqual => a != b,
        Test::LessInt => (a as i32) < b as i32,
        Test::LessEqualInt => a as i32 <= b as i32,
        Test::LessUint => a < b,
        Test::LessEqualUint => a <= b,
        Test::EqualFloat => as_f32(a) == as_f32(b),
        Test::NotEqualFloat => as_f32(a) != as_f32(b),
        Test::LessFloat => less(a, b),
        Test::LessEqualFloat => less_equal(a, b),
        Test::NotLessFloat => !less(a, b),
        Test::NotLessEqualFloat => !less_equal(a, b),
        Test::EqualBool => (a != 0) == (b != 0),
        Test::NotEqualBool => (a != 0) != (b != 0),
    }
}

/// `None` if an unspecified value is left open.
#[inline(always)]
fn binary(op: Binary, a: u32, b: u32, chooser: &mut Chooser) -> Option<u32> {
    Some(match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::DivInt | Binary::DivUint | Binary::RemInt | Binary::RemUint if b == 0 => return chooser.any(0),
        Binary::DivInt => (a as i32).wrapping_div(b as i32) as u32,
        Binary::DivUint => a / b,
        Binary::RemInt => (a as i32).wrapping_rem(b as i32) as u32,
        Binary::RemUint => a % b,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::AndBool => u32::from(a != 0 && b != 0),
        Binary::OrBool => u32::from(a != 0 || b != 0),
        Binary::XorBool => u32::from((a != 0) != (b != 0)),
        Binary::ShiftLeft => a.wrapping_shl(b),
        Binary::ShiftRightInt => (a as i32).wrapping_shr(b) as u32,
        Binary::ShiftRightUint => a.wrapping_shr(b),
        Binary::MinInt => (a as i32).min(b as i32) as u32,
        Binary::MinUint => a.min(b),
        Binary::MaxInt => (a as i32).max(b as i32) as u32,
        Binary::MaxUint => a.max(b),
        Binary::AddFloat => float(as_f32(a) + as_f32(b)),
        Binary::SubFloat => float(as_f32(a) - as_f32(b)),
        Binary::MulFloat => float(as_f32(a) * as_f32(b)),
        Binary::DivFloat if as_f32(b) == 0.0 => return chooser.any(0),
        Binary::DivFloat => float(as_f32(a) / as_f32(b)),
        Binary::MinFloat if as_f32(a) < as_f32(b) => a,
        Binary::MinFloat if as_f32(b) < as_f32(a) => b,
        Binary::MaxFloat if as_f32(a) < as_f32(b) => b,
        Binary::MaxFloat if as_f32(b) < as_f32(a) => a,
        Binary::MinFloat => return chooser.float(Meaning::Min, &[a, b]),
        Binary::MaxFloat => return chooser.float(Meaning::Max, &[a, b]),
        Binary::StepFloat => float(if as_f32(a) >= as_f32(b) { 1.0 } else { 0.0 }),
        Binary::Test(t) => u32::from(test(t, a, b)),
    })
}

/// `None` if an unspecified value is left open.
fn unary(op: Unary, a: u32, chooser: &mut Chooser) -> Option<u32> {
    Some(match op {
        Unary::Negate => a.wrapping_neg(),
        Unary::Complement => !a,
        Unary::Not => u32::from(a == 0),
        Unary::Truth => u32::from(a != 0),
        Unary::TruthFloat => u32::from(as_f32(a) != 0.0),
        Unary::IntToFloat => float(a as i32 as f32),
        Unary::UintToFloat => float(a as f32),
        // The truncated float has to be a value of the type.
        Unary::FloatToInt if as_f32(a) > -2_147_483_904.0 && as_f32(a) < 2_147_483_648.0 => as_f32(a) as i32 as u32,
        Unary::FloatToUint if as_f32(a) > -1.0 && as_f32(a) < 4_294_967_296.0 => as_f32(a) as u32,
        Unary::FloatToInt | Unary::FloatToUint => return chooser.any(0),
        Unary::NegateFloat => float(-as_f32(a)),
        Unary::AbsFloat => float(as_f32(a).abs()),
        Unary::AbsInt => (a as i32).wrapping_abs() as u32,
        Unary::SignInt => (a as i32).signum() as u32,
        Unary::SignUint => u32::from(a != 0),
        Unary::Floor => float(as_f32(a).floor()),
        Unary::Ceil => float(as_f32(a).ceil()),
        Unary::Trunc => float(as_f32(a).trunc()),
        Unary::Sqrt if as_f32(a) < 0.0 => return chooser.any(0),
        Unary::Sqrt => float(as_f32(a).sqrt()),
        Unary::CountBits => a.count_ones(),
        Unary::ReverseBits => a.reverse_bits(),
        Unary::IsNan => u32::from(as_f32(a).is_nan()),
        Unary::IsInf => u32::from(as_f32(a).is_infinite()),
        Unary::IsFinite => u32::from(as_f32(a).is_finite()),
    })
}

fn modified(modify: Modify, old: u32, value: u32) -> u32 {
    match modify {
        Modify::Add => old.wrapping_add(value),
        Modify::And => old & value,
        Modify::Or => old | value,
        Modify::Xor => old ^ value,
        Modify::MinInt => (old as i32).min(value as i32) as u32,
        Modify::MinUint => old.min(value),
        Modify::MaxInt => (old as i32).max(value as i32) as u32,
        Modify::MaxUint => old.max(value),
        Modify::Exchange => value,
    }
}

/// The words of an object, `n` from `at` on. `None` if it has fewer.
fn object<'a>(words: &'a mut [u32], shared: &'a mut Shared, object: u32, at: u32, n: u32) -> Option<&'a mut [u32]> {
    let memory: &mut [u32] = match object {
        OWN => words,
        GROUP => &mut shared.group,
        buffer => shared.memory.buffers.get_mut((buffer - BUFFERS) as usize)?,
    };
    memory.get_mut(at as usize..)?.get_mut(..n as usize)
}

const OUTSIDE: Stop = Stop::Stuck("an access outside of memory");

/// Runs until the thread stops. If `COUNT`, it counts evaluated expressions.
// If it were inlined into its caller, the loop would take a quarter more time.
#[inline(never)]
pub(super) fn run<const COUNT: bool>(code: &Code, thread: &mut Thread, shared: &mut Shared) -> Stop {
    let Thread { words, at, calls, chooser, stage } = thread;
    let InDraw { helper, doubtful, .. } = *stage;
    let words: &mut [u32] = words;
    let instructions: &[Instruction] = &code.instructions;
    let mut pc = *at as usize;
    let mut fuel = shared.fuel;
    macro_rules! stop {
        ($why:expr) => {{
            *at = pc as u32;
            shared.fuel = fuel;
            return $why;
        }};
    }
    macro_rules! get {
        ($slot:expr) => {
            words[$slot as usize]
        };
    }
    macro_rules! range {
        ($at:expr, $n:expr) => {
            $at as usize..$at as usize + $n as usize
        };
    }
    macro_rules! burn {
        () => {{
            if fuel == 0 {
                stop!(Stop::OutOfFuel);
            }
            fuel -= 1;
        }};
    }
    // Copies of many words cost more than one step.
    macro_rules! weigh {
        ($n:expr) => {{
            if $n >= 1024 {
                let cost = u64::from($n >> 10);
                if fuel < cost {
                    stop!(Stop::OutOfFuel);
                }
                fuel -= cost;
            }
        }};
    }
    macro_rules! far {
        ($object:expr, $at:expr, $n:expr) => {{
            let (o, from) = ($object, $at);
            match object(words, shared, o, from, $n) {
                Some(found) => found,
                None => stop!(OUTSIDE),
            }
        }};
    }
    macro_rules! chosen {
        ($value:expr) => {
            match $value {
                Some(value) => value,
                None => stop!(Stop::Open),
            }
        };
    }
    // Whether a store to that object has no effect, because the thread is a helper.
    macro_rules! has_no_effect {
        ($object:expr) => {{
            let outside = $object >= BUFFERS;
            shared.memory.in_doubt |= doubtful && outside;
            helper && outside
        }};
    }
    loop {
        let Some(&instruction) = instructions.get(pc) else { stop!(Stop::Stuck("an instruction outside of the code")) };
        if COUNT {
            shared.nodes += u64::from(code.nodes[pc]);
        }
        match instruction {
            Instruction::Move { to, from } => get!(to) = get!(from),
            Instruction::Copy { to, from, n } => {
                weigh!(n);
                words.copy_within(range!(from, n), to as usize);
            }
            Instruction::Zero { to, n } => {
                weigh!(n);
                words[range!(to, n)].fill(0);
            }
            Instruction::Binary { op, to, a, b } => get!(to) = chosen!(binary(op, get!(a), get!(b), chooser)),
            Instruction::Unary { op, to, a } => get!(to) = chosen!(unary(op, get!(a), chooser)),
            Instruction::Add { to, a, b } => get!(to) = get!(a).wrapping_add(get!(b)),
            Instruction::Sub { to, a, b } => get!(to) = get!(a).wrapping_sub(get!(b)),
            Instruction::Mul { to, a, b } => get!(to) = get!(a).wrapping_mul(get!(b)),
            Instruction::And { to, a, b } => get!(to) = get!(a) & get!(b),
            Instruction::AddFloat { to, a, b } => get!(to) = float(as_f32(get!(a)) + as_f32(get!(b))),
            Instruction::SubFloat { to, a, b } => get!(to) = float(as_f32(get!(a)) - as_f32(get!(b))),
            Instruction::MulFloat { to, a, b } => get!(to) = float(as_f32(get!(a)) * as_f32(get!(b))),
            Instruction::Jump { target } => {
                pc = target as usize;
                continue;
            }
            Instruction::JumpIf { a, target } => {
                if get!(a) != 0 {
                    pc = target as usize;
                    continue;
                }
            }
            Instruction::JumpUnless { a, target } => {
                if get!(a) == 0 {
                    pc = target as usize;
                    continue;
                }
            }
            Instruction::JumpTest { test: t, a, b, target } => {
                if test(t, get!(a), get!(b)) {
                    pc = target as usize;
                    continue;
                }
            }
            Instruction::JumpLessInt { a, b, target } => {
                if (get!(a) as i32) < get!(b) as i32 {
                    pc = target as usize;
                    continue;
                }
            }
            Instruction::JumpLessEqualInt { a, b, target } => {
                if get!(a) as i32 <= get!(b) as i32 {
                    pc = target as usize;
                    continue;
                }
            }
            Instruction::JumpLessFloat { a, b, target } => {
                if as_f32(get!(a)) < as_f32(get!(b)) {
                    pc = target as usize;
                    continue;
                }
            }
            Instruction::JumpNotLessFloat { a, b, target } => {
                if test(Test::NotLessFloat, get!(a), get!(b)) {
                    pc = target as usize;
                    continue;
                }
            }
            Instruction::Iterate => burn!(),
            Instruction::Number { counter } => {
                burn!();
                get!(counter) = get!(counter).wrapping_add(1);
            }
            Instruction::Switch { value, table } => {
                let (cases, value) = (&code.cases[table as usize], get!(value));
                let found = cases.values.binary_search_by_key(&value, |(bits, _)| *bits);
                pc = found.map_or(cases.otherwise, |i| cases.values[i].1) as usize;
                continue;
            }
            Instruction::Call { target } => {
                burn!();
                calls.push(pc as u32);
                pc = target as usize;
                continue;
            }
            Instruction::Return => match calls.pop() {
                Some(call) => pc = call as usize,
                None => stop!(Stop::Returned),
            },
            Instruction::Discard => stop!(Stop::Discarded),
            Instruction::Barrier => stop!(Stop::Barrier),
            Instruction::Unreachable => stop!(Stop::Stuck("a place that validation says is never reached")),
            Instruction::Scale { to, index, count, stride } => {
                let mut index = get!(index);
                if index >= count {
                    index = chosen!(chooser.below(count));
                }
                get!(to) = index.wrapping_mul(stride);
            }
            Instruction::Element { to, reference, index, stride } => {
                let (base, count, mut index) = (get!(reference + 1), get!(reference + 2), get!(index));
                if index >= count {
                    if count == 0 {
                        stop!(Stop::Stuck("an array reference of length 0"));
                    }
                    index = chosen!(chooser.below(count));
                }
                get!(to) = base.wrapping_add(index.wrapping_mul(stride));
            }
            Instruction::LoadAt { to, base, offset } => get!(to) = get!(base.wrapping_add(get!(offset))),
            Instruction::StoreAt { base, offset, from } => get!(base.wrapping_add(get!(offset))) = get!(from),
            Instruction::LoadElement { to, base, count, index } => {
                let mut index = get!(index);
                if index >= count {
                    index = chosen!(chooser.below(count));
                }
                get!(to) = get!(base + index);
            }
            Instruction::StoreElement { base, count, index, from } => {
                let mut index = get!(index);
                if index >= count {
                    index = chosen!(chooser.below(count));
                }
                get!(base + index) = get!(from);
            }
            Instruction::CopyFrom { to, base, offset, n } => {
                weigh!(n);
                let from = base.wrapping_add(get!(offset));
                words.copy_within(range!(from, n), to as usize);
            }
            Instruction::CopyTo { base, offset, from, n } => {
                weigh!(n);
                let to = base.wrapping_add(get!(offset));
                words.copy_within(range!(from, n), to as usize);
            }
            Instruction::LoadFar { to, object, offset, plus } => {
                let value = far!(get!(object), get!(offset).wrapping_add(plus), 1)[0];
                get!(to) = value;
            }
            Instruction::StoreFar { object, offset, plus, from } => {
                let (o, value) = (get!(object), get!(from));
                if !has_no_effect!(o) {
                    far!(o, get!(offset).wrapping_add(plus), 1)[0] = value;
                }
            }
            Instruction::CopyFromFar { to, object, offset, n } => {
                weigh!(n);
                let (o, from) = (get!(object), get!(offset));
                if o == OWN {
                    words.copy_within(range!(from, n), to as usize);
                } else {
                    // The object is not the thread's own memory, so its words are not needed.
                    let found = match self::object(&mut [], shared, o, from, n) {
                        Some(found) => found,
                        None => stop!(OUTSIDE),
                    };
                    words[range!(to, n)].copy_from_slice(found);
                }
            }
            Instruction::CopyToFar { object, offset, from, n } => {
                weigh!(n);
                let (o, to) = (get!(object), get!(offset));
                if o == OWN {
                    words.copy_within(range!(from, n), to as usize);
                } else if !has_no_effect!(o) {
                    let found = match self::object(&mut [], shared, o, to, n) {
                        Some(found) => found,
                        None => stop!(OUTSIDE),
                    };
                    found.copy_from_slice(&words[range!(from, n)]);
                }
            }
            Instruction::Sanitize { at, enumeration } => {
                let values = &code.enums[enumeration as usize];
                if !values.has(get!(at)) {
                    get!(at) = values.listed[chosen!(chooser.below(values.listed.len() as u32)) as usize];
                }
            }
            Instruction::Lane { to, index, count } => {
                let index = get!(index);
                get!(to) = if index < count { index } else { chosen!(chooser.below(count + 1)) };
            }
            Instruction::PickLane { to, from, lane, shape } => {
                let (lane, size) = (get!(lane), u32::from(shape.words));
                if lane < u32::from(shape.count) {
                    words.copy_within(range!(from + lane * size, size), to as usize);
                } else {
                    words[range!(to, size)].fill(0);
                }
            }
            Instruction::SetLane { into, lane, from, shape } => {
                let (lane, size) = (get!(lane), u32::from(shape.words));
                if lane < u32::from(shape.count) {
                    words.copy_within(range!(from, size), (into + lane * size) as usize);
                }
            }
            Instruction::Atomic { modify, to, pointer, value } => {
                let (o, value) = (get!(pointer), get!(value));
                if has_no_effect!(o) {
                    get!(to) = chosen!(chooser.any(0));
                } else {
                    let place = &mut far!(o, get!(pointer + 1), 1)[0];
                    let old = *place;
                    *place = modified(modify, old, value);
                    get!(to) = old;
                }
            }
            Instruction::CompareExchange { to, pointer, values } => {
                let (compare, new) = (get!(values), get!(values + 1));
                let o = get!(pointer);
                if has_no_effect!(o) {
                    get!(to) = chosen!(chooser.any(0));
                } else {
                    let place = &mut far!(o, get!(pointer + 1), 1)[0];
                    let old = *place;
                    if old == compare {
                        *place = new;
                    }
                    get!(to) = old;
                }
            }
            Instruction::Texture { call } => {
                if let Err(stopped) = texture::call(code, &code.textures[call as usize], words, shared, chooser, *stage) {
                    stop!(stopped);
                }
            }
            Instruction::Quad { .. } => stop!(Stop::Quad),
            Instruction::Derivative { meeting, to } => {
                let Some(lane) = stage.lane else { stop!(Stop::Quad) };
                quad::derivative(&code.meetings[meeting as usize], words, to, lane, chooser);
                if chooser.open {
                    stop!(Stop::Open);
                }
            }
            Instruction::Library { call } => chosen!(lanes::library(&code.types, &code.calls[call as usize], words, chooser)),
        }
        pc += 1;
    }
}
