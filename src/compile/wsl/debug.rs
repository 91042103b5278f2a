//! Debug information on request, with NonSemantic.Shader.DebugInfo.100. It describes the source of
//! the module: its text, functions, lines, types and local variables.
//!
//! Each instruction is an OpExtInst of type void. Global descriptions stand among the types. A
//! function contains its definition, and its scope and line before each statement.

use super::emit::{Id, Operands};
use super::{Compiler, Done};
use rspirv::spirv::Op;
use rustc_hash::FxHashMap;
use smallstep_semantics::text::{Span, deep};
use smallstep_semantics::wsl::environment::Function;
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};

/// The name of the instruction set.
pub(super) const SET: &str = "NonSemantic.Shader.DebugInfo.100";
/// The extension that allows a module to import the set.
pub(super) const EXTENSION: &str = "SPV_KHR_non_semantic_info";

/// The instructions that are emitted, with their numbers in the set.
#[derive(Clone, Copy, Debug)]
enum Instruction {
    CompilationUnit = 1,
    TypeBasic = 2,
    TypeArray = 5,
    TypeVector = 6,
    TypeFunction = 8,
    TypeComposite = 10,
    TypeMember = 11,
    Function = 20,
    Scope = 23,
    LocalVariable = 26,
    Declare = 28,
    Expression = 31,
    Source = 35,
    FunctionDefinition = 101,
    Line = 103,
    TypeMatrix = 108,
}

/// The state of the debug information during a translation.
#[derive(Debug)]
pub(super) struct Debug {
    /// The imported set.
    pub set: Id,
    source: Id,
    unit: Id,
    /// An empty DebugExpression: a variable is at its place in memory without further operations.
    whole: Id,
    types: FxHashMap<TypeId, Id>,
    /// The DebugFunction of the function that is being emitted. `None` outside of the
    /// program's functions.
    pub scope: Option<Id>,
}

impl Compiler<'_> {
    /// Begins the debug information of a program with that file name and text.
    pub(super) fn debug_begins(&mut self, name: &str, text: &str) {
        let set = self.e.fresh();
        self.debug = Some(Debug { set, source: 0, unit: 0, whole: 0, types: FxHashMap::default(), scope: None });
        let (name, text) = (self.e.string(name), self.e.string(text));
        let source = self.debug_global(Instruction::Source, &[name, text]);
        // The version of the set, the version of DWARF whose terms it uses, and no source language.
        let [version, dwarf, language] = [100, 5, 0].map(|n| self.uint_constant(n));
        let unit = self.debug_global(Instruction::CompilationUnit, &[version, dwarf, source, language]);
        let whole = self.debug_global(Instruction::Expression, &[]);
        if let Some(debug) = &mut self.debug {
            (debug.source, debug.unit, debug.whole) = (source, unit, whole);
        }
    }

    fn debug_operands(&self, instruction: Instruction, operands: &[Id]) -> Operands {
        let set = self.debug.as_ref().map_or(0, |debug| debug.set);
        let mut all = Operands::from_slice(&[set, instruction as u32]);
        all.extend_from_slice(operands);
        all
    }

    fn debug_global(&mut self, instruction: Instruction, operands: &[Id]) -> Id {
        let (void, operands) = (self.void(), self.debug_operands(instruction, operands));
        self.e.declare_new(Op::ExtInst, Some(void), &operands)
    }

    fn debug_code(&mut self, instruction: Instruction, operands: &[Id]) {
        let (void, operands) = (self.void(), self.debug_operands(instruction, operands));
        self.e.op(Op::ExtInst, void, &operands);
    }

    /// The line and the column where a span starts, from 1, as constants.
    fn debug_place(&mut self, span: Span) -> [Id; 2] {
        let (line, column) = self.place_of_byte(span.start);
        [self.uint_constant(line), self.uint_constant(column)]
    }

    /// Emits the scope and the line of the instructions that follow.
    pub(super) fn debug_line(&mut self) {
        let Some(Debug { source, scope: Some(scope), .. }) = self.debug else { return };
        let (start, end) = (self.place_of_byte(self.span.start), self.place_of_byte(self.span.end));
        let [line, line_end, column, column_end] = [start.0, end.0, start.1, end.1].map(|n| self.uint_constant(n));
        self.debug_code(Instruction::Scope, &[scope]);
        self.debug_code(Instruction::Line, &[source, line, line_end, column, column_end]);
    }

    /// Emits the definition of a function of the program, in its first block.
    pub(super) fn debug_function(&mut self, id: Id, function: &Function, name: &str) -> Done {
        let Some(Debug { source, unit, .. }) = self.debug else { return Ok(()) };
        let result = match function.result {
            TypeId::VOID => self.void(),
            ty => self.debug_type(ty)?,
        };
        let none = self.uint_constant(0);
        let mut of = vec![none, result];
        for parameter in &function.parameters {
            of.push(self.debug_type(parameter.ty)?);
        }
        let ty = self.debug_global(Instruction::TypeFunction, &of);
        let [line, column] = self.debug_place(function.span);
        let name = self.e.string(name);
        let empty = self.e.string("");
        let scope = self.debug_global(Instruction::Function, &[name, ty, source, line, column, unit, empty, none, line]);
        if let Some(debug) = &mut self.debug {
            debug.scope = Some(scope);
        }
        self.debug_code(Instruction::Scope, &[scope]);
        self.debug_code(Instruction::FunctionDefinition, &[scope, id]);
        Ok(())
    }

    /// Leaves the function of the program. Returns the scope before.
    pub(super) fn debug_leaves(&mut self) -> Option<Id> {
        self.debug.as_mut().and_then(|debug| debug.scope.take())
    }

    /// Describes a local variable, or a parameter with its number, from 1. `id` is its OpVariable
    /// or OpFunctionParameter.
    pub(super) fn debug_variable(&mut self, id: Id, name: &str, ty: TypeId, span: Span, argument: Option<u32>) -> Done {
        let Some(Debug { source, whole, scope: Some(scope), .. }) = self.debug else { return Ok(()) };
        let (name, of, none) = (self.e.string(name), self.debug_type(ty)?, self.uint_constant(0));
        let [line, column] = self.debug_place(span);
        let mut operands = vec![name, of, source, line, column, scope, none];
        if let Some(number) = argument {
            operands.push(self.uint_constant(number));
        }
        let variable = self.debug_global(Instruction::LocalVariable, &operands);
        self.debug_code(Instruction::Declare, &[variable, id, whole]);
        Ok(())
    }

    /// The description of a type. A pointer or array reference is no value of the module, so it is
    /// described as a uint.
    fn debug_type(&mut self, ty: TypeId) -> Done<Id> {
        if let Some(&id) = self.debug.as_ref().and_then(|debug| debug.types.get(&ty)) {
            return Ok(id);
        }
        let id = deep(|| self.debug_type_of(ty))?;
        if let Some(debug) = &mut self.debug {
            debug.types.insert(ty, id);
        }
        Ok(id)
    }

    fn debug_type_of(&mut self, ty: TypeId) -> Done<Id> {
        let program = self.program;
        Ok(match program.env.types.get(ty) {
            Type::Scalar(s) | Type::Atomic(s) => {
                // The encodings are 2 Boolean, 3 Float, 4 Signed and 6 Unsigned.
                let encoding = match s {
                    Scalar::Bool => 2,
                    Scalar::Float => 3,
                    Scalar::Int => 4,
                    Scalar::Uint => 6,
                };
                let name = self.e.string(s.name());
                let [size, encoding, none] = [32, encoding, 0].map(|n| self.uint_constant(n));
                self.debug_global(Instruction::TypeBasic, &[name, size, encoding, none])
            }
            Type::Vector(s, n) => {
                let (of, n) = (self.debug_type(TypeId::scalar(s))?, self.uint_constant(n.into()));
                self.debug_global(Instruction::TypeVector, &[of, n])
            }
            Type::Matrix(s, columns, rows) => {
                let (of, count) = (self.debug_type(TypeId::vector(s, rows))?, self.uint_constant(columns.into()));
                let by_columns = self.truth_constant(true);
                self.debug_global(Instruction::TypeMatrix, &[of, count, by_columns])
            }
            Type::Array(of, n) => {
                let (of, n) = (self.debug_type(of)?, self.uint_constant(n));
                self.debug_global(Instruction::TypeArray, &[of, n])
            }
            Type::Enum(id) => self.debug_type(program.env.enumeration(id).base)?,
            Type::Struct(s) => {
                let Some(Debug { source, unit, .. }) = self.debug else { return Ok(0) };
                let structure = program.env.structure(s);
                let offsets = self.layouts.offsets(&program.env, s).map(<[u64]>::to_vec).unwrap_or_default();
                let bits = |bytes: u64| u32::try_from(bytes.saturating_mul(8)).unwrap_or(u32::MAX);
                let none = self.uint_constant(0);
                let mut members = Vec::with_capacity(structure.fields.len());
                for (field, offset) in structure.fields.iter().zip(offsets) {
                    let of = self.debug_type(field.ty)?;
                    let size = self.layouts.of(&program.env, field.ty).map_or(0, |layout| layout.size);
                    let name = self.e.string(program.env.names.name(field.name));
                    let [line, column] = self.debug_place(field.span);
                    let (offset, size) = (self.uint_constant(bits(offset)), self.uint_constant(bits(size)));
                    members.push(self.debug_global(Instruction::TypeMember, &[name, of, source, line, column, offset, size, none]));
                }
                let size = self.layouts.of(&program.env, ty).map_or(0, |layout| layout.size);
                let (name, empty) = (self.e.string(program.env.names.name(structure.name)), self.e.string(""));
                // Tag 1 is Structure. Class and Union have other tags.
                let (tag, one, size) = (self.uint_constant(1), self.uint_constant(1), self.uint_constant(bits(size)));
                let mut operands = vec![name, tag, source, one, one, unit, empty, size, none];
                operands.extend(members);
                self.debug_global(Instruction::TypeComposite, &operands)
            }
            _ => self.debug_type(TypeId::UINT)?,
        })
    }
}
