//! Values, calls of library functions on definite words, and checks of their results.

use crate::listing::{key, ty};
use smallstep_semantics::wsl::library::{Argument, Overload, overloads};
use smallstep_semantics::wsl::meaning::{Evaluator, Op, OpResult, Planted};
use smallstep_semantics::wsl::types::{TypeId, Types};
use std::fmt;

/// The quiet NaN.
pub const NAN: u32 = 0x7fc0_0000;
/// The padding of arguments. No result may depend on it.
const JUNK: u32 = 0xdead_beef;

/// A value: the text of its type, and its elements by columns. Values of other types than scalars,
/// vectors and matrices have a single column of words.
#[derive(Clone, PartialEq)]
pub struct Value {
    pub ty: String,
    pub columns: Vec<Vec<u32>>,
}

impl Value {
    pub fn words(&self, padding: u32) -> Vec<u32> {
        let mut words = Vec::new();
        for column in &self.columns {
            words.extend(column);
            // Only columns of three elements are padded.
            if column.len() == 3 && !self.ty.contains('[') {
                words.push(padding);
            }
        }
        words
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:x?}", self.ty, self.columns)?;
        if self.ty.starts_with("float") {
            let floats: Vec<Vec<f32>> = self.columns.iter().map(|c| c.iter().map(|&b| f32::from_bits(b)).collect()).collect();
            write!(f, " = {floats:?}")?;
        }
        Ok(())
    }
}

/// A value of any type, from its words.
pub fn of(ty: &str, words: &[u32]) -> Value {
    Value { ty: ty.into(), columns: vec![words.to_vec()] }
}

fn vector(scalar: &str, elements: Vec<u32>) -> Value {
    let ty = if elements.len() == 1 { scalar.into() } else { format!("{scalar}{}", elements.len()) };
    Value { ty, columns: vec![elements] }
}

pub fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| if x.is_nan() { NAN } else { x.to_bits() }).collect()
}

/// A float, or a vector of floats.
pub fn float(x: &[f32]) -> Value {
    vector("float", bits(x))
}

pub fn int(x: &[i32]) -> Value {
    vector("int", x.iter().map(|&x| x as u32).collect())
}

pub fn uint(x: &[u32]) -> Value {
    vector("uint", x.to_vec())
}

pub fn boolean(x: &[u32]) -> Value {
    vector("bool", x.to_vec())
}

/// A matrix of floats, from its columns.
pub fn matrix(columns: &[&[f32]]) -> Value {
    Value { ty: format!("float{}x{}", columns.len(), columns[0].len()), columns: columns.iter().map(|c| bits(c)).collect() }
}

/// A matrix of Booleans, from its columns.
pub fn truths(columns: &[&[u32]]) -> Value {
    Value { ty: format!("bool{}x{}", columns.len(), columns[0].len()), columns: columns.iter().map(|c| c.to_vec()).collect() }
}

/// A pointer with that type.
pub fn pointer(ty: &str) -> Value {
    of(ty, &[64, 0])
}

/// Computes on definite words, and records what functions ask for.
#[derive(Default)]
pub struct Definite {
    pub planted: Planted,
    /// The index that replaces every index out of bounds, modulo the number of elements.
    pub outside: u32,
    /// The bounds of indices, each with the number of choices for an index out of bounds.
    pub asked: Vec<(u32, u32)>,
    /// Whether a function needed a value that the specification leaves open.
    pub unspecified: bool,
    /// The operations on scalars, in order.
    pub operations: Vec<Op>,
}

impl Evaluator for Definite {
    type Word = u32;

    fn bits(&mut self, bits: u32) -> u32 {
        bits
    }

    fn scalar(&mut self, op: Op, operands: &[u32]) -> u32 {
        let given = self.planted.scalar(op, operands);
        self.unspecified |= matches!(given, OpResult::Any(_));
        self.operations.push(op);
        given.first()
    }

    fn below(&mut self, index: u32, bound: u32, otherwise: u32) -> u32 {
        assert!(otherwise >= 1);
        self.asked.push((bound, otherwise));
        if index < bound { index } else { self.outside % otherwise }
    }

    fn pick(&mut self, index: u32, words: &[u32]) -> u32 {
        words[index as usize]
    }
}

/// The result of a call.
pub struct Answer {
    pub result: Vec<u32>,
    pub stored: Vec<Vec<u32>>,
    pub lanes: Definite,
}

/// The built-in function of that name whose parameters have exactly these types.
pub fn overload(types: &mut Types, name: &str, parameters: &[TypeId]) -> Overload {
    let arguments: Vec<Argument> = parameters.iter().map(|&id| Argument::Typed(id)).collect();
    let key = key(types, name);
    let mut found = Vec::new();
    overloads(types, key, &arguments, &mut found);
    assert_eq!(found.len(), 1, "overloads of {name}: {found:?}");
    found.remove(0)
}

/// Types with two enums: `E` with base int and `F` with base uint.
pub fn types() -> Types {
    let mut types = Types::default();
    types.enum_bases = vec![TypeId::INT, TypeId::UINT];
    types
}

/// Calls a function. `None` if it does not compute on values alone.
pub fn call(planted: Planted, outside: u32, name: &str, arguments: &[Value]) -> Option<Answer> {
    let mut types = types();
    let parameters: Vec<TypeId> = arguments.iter().map(|a| ty(&mut types, &a.ty)).collect();
    let Overload { function, parameters, result } = overload(&mut types, name, &parameters);
    let words: Vec<Vec<u32>> = arguments.iter().map(|a| a.words(JUNK)).collect();
    let words: Vec<&[u32]> = words.iter().map(Vec::as_slice).collect();
    let mut lanes = Definite { planted, outside, ..Definite::default() };
    let results = planted.apply(&mut lanes, &types, function, &parameters, result, &words)?;
    Some(Answer { result: results.result.to_vec(), stored: results.stored.iter().map(|words| words.to_vec()).collect(), lanes })
}

/// The number of checks, and the faults that they found.
#[derive(Default)]
pub struct Checks {
    pub planted: Planted,
    pub faults: Vec<String>,
    pub count: usize,
}

impl Checks {
    pub fn of(planted: Planted) -> Checks {
        Checks { planted, ..Checks::default() }
    }

    /// Checks that an operation on scalars has this result.
    pub fn scalar(&mut self, op: Op, operands: &[u32], expected: OpResult) {
        self.count += 1;
        let given = self.planted.scalar(op, operands);
        if given != expected {
            self.faults.push(format!("{op:?} of {operands:x?}: expected {expected:x?}, found {given:x?}"));
        }
    }

    /// Checks that a call returns this value and needs no value that the specification leaves open.
    pub fn gives(&mut self, name: &str, arguments: &[Value], expected: Value) {
        self.stores(name, arguments, &[], Some(expected));
    }

    /// Checks that a call returns and stores these values.
    pub fn stores(&mut self, name: &str, arguments: &[Value], stored: &[Value], expected: Option<Value>) {
        self.count += 1;
        let answer = call(self.planted, 0, name, arguments).unwrap_or_else(|| panic!("{name} is no function of values"));
        let result = expected.as_ref().map_or(Vec::new(), |e| e.words(0));
        let stores: Vec<Vec<u32>> = stored.iter().map(|value| value.words(0)).collect();
        if answer.result != result || answer.stored != stores || answer.lanes.unspecified {
            let found = (answer.result, answer.stored, answer.lanes.unspecified);
            self.faults.push(format!("{name}({arguments:?}): expected {expected:?} {stored:?}, found {found:x?}"));
        }
    }

    /// Asserts that there were checks and that none found a fault.
    pub fn assert(&self) {
        assert!(self.count > 0);
        assert!(self.faults.is_empty(), "{} of {} are wrong:\n{}", self.faults.len(), self.count, self.shown());
    }

    fn shown(&self) -> String {
        self.faults.iter().take(20).cloned().collect::<Vec<_>>().join("\n")
    }
}
