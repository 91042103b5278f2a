//! Module creation, report §6.11: the header, types, constants, variables and entry point around
//! the translated code.
//!
//! This is outside of the theorem's eval_S (LV-19). It is a lemma of its own, tested by running
//! whole modules.

use super::emit::{fixed, typeid};
use super::{Constants, Module, Translator, Untranslatable};
use crate::dispatch::Target;
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl, MAGIC_NUMBER, MemoryModel, Op,
    StorageClass,
};
use smallstep_semantics::lambda_v::types::{Elem, Ground};
use smallstep_semantics::number::Controls;
use smallstep_semantics::outcome::Limit;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::float_controls;
use smallstep_semantics::spirv::write::{Code, Id, string};

/// SPIR-V 1.3, which Vulkan 1.1 accepts. The float controls are an extension of it (report §3.2).
pub const VERSION: u32 = 0x0001_0300;

/// The value of an output.
pub struct Stored {
    /// The location of the output.
    pub location: u32,
    /// O.ido.
    pub id: Id,
    /// O.type.
    pub ty: Ground,
}

/// Whether NoContraction may decorate the core instruction, which is arithmetic on floats. The
/// functions of GLSL.std.450 are decorated too.
///
/// `spirv::Module::controls` deliberately has a list of its own, because it checks the modules
/// emitted here.
pub fn is_contractible(op: Op) -> bool {
    matches!(
        op,
        Op::FNegate
            | Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FDiv
            | Op::FMod
            | Op::VectorTimesScalar
            | Op::MatrixTimesScalar
            | Op::VectorTimesMatrix
            | Op::MatrixTimesVector
            | Op::MatrixTimesMatrix
            | Op::Dot
    )
}

/// The inputs of the parts of a module.
struct Plan<'t, 'a> {
    t: &'t Translator<'a>,
    results: &'t [Stored],
    /// The first id that the translation has not used.
    idc: Id,
    opaque: bool,
    pads: bool,
}

impl Plan<'_, '_> {
    fn output(&self, stored: &Stored) -> Id {
        fixed::OUTPUT + stored.location
    }

    /// The id of the constant index of opaque constant k.
    fn index(&self, k: usize) -> Id {
        self.idc + 2 * k as Id
    }

    /// The id of the pointer to opaque constant k.
    fn pointer(&self, k: usize) -> Id {
        self.idc + 2 * k as Id + 1
    }

    /// The first id after those of the opaque constants.
    fn padded(&self) -> Id {
        self.idc + if self.opaque { 2 * self.t.consts.len() as Id } else { 0 }
    }

    fn controls(&self) -> Controls {
        self.t.options.profile.controls()
    }

    /// capabilities, extensions, the extended instruction set, the memory model
    ///                                                                    [lv/mc-header, 000 §6.11]
    fn mc_header(&self, out: &mut Code) {
        out.push(Op::Capability, &[Capability::Shader as u32]);
        let controls = self.controls();
        for control in controls.modes() {
            out.push(Op::Capability, &[control.capability as u32]);
        }
        if controls.modes().next().is_some() {
            out.push(Op::Extension, &string(float_controls::EXTENSION));
        }
        if self.t.glsl {
            out.push_with(Op::ExtInstImport, &[fixed::GLSL], &string("GLSL.std.450"));
        }
        out.push(Op::MemoryModel, &[AddressingModel::Logical as u32, MemoryModel::GLSL450 as u32]);
    }

    /// the fragment entry point, its interface and where its coordinates begin
    ///                                                               [lv/mc-entry, 000 §6.11;
    ///                                                               LV-19]
    fn mc_entry(&self, out: &mut Code) {
        let mut rest = string("main");
        rest.extend(self.results.iter().map(|r| self.output(r)));
        if self.t.frag_coord {
            rest.push(fixed::FRAG_COORD);
        }
        out.push_with(Op::EntryPoint, &[ExecutionModel::Fragment as u32, fixed::MAIN], &rest);
        out.push(Op::ExecutionMode, &[fixed::MAIN, ExecutionMode::OriginUpperLeft as u32]);
    }

    /// the float controls and NoContraction of the profile        [lv/mc-controls, 000 §3.2; LV-20]
    fn mc_controls(&self, out: &mut Code) {
        for control in self.controls().modes().rev() {
            out.push(Op::ExecutionMode, &[fixed::MAIN, control.mode as u32, 32]);
        }
    }

    /// Location of each output, BuiltIn FragCoord, the constant buffer's layout, NoContraction on
    /// float arithmetic, GLSL.std.450's too                          [lv/mc-decorations, 000 §6.11]
    fn mc_decorations(&self, out: &mut Code) {
        for r in self.results {
            out.push(Op::Decorate, &[self.output(r), Decoration::Location as u32, r.location]);
        }
        if self.t.frag_coord {
            out.push(Op::Decorate, &[fixed::FRAG_COORD, Decoration::BuiltIn as u32, BuiltIn::FragCoord as u32]);
        }
        if self.opaque {
            out.push(Op::Decorate, &[fixed::ARRAY, Decoration::ArrayStride as u32, 4]);
            // The variable is decorated, because naga looks only there.
            out.push(Op::Decorate, &[fixed::BUFFER, Decoration::NonWritable as u32]);
            out.push(Op::MemberDecorate, &[fixed::BLOCK, 0, Decoration::Offset as u32, 0]);
            out.push(Op::Decorate, &[fixed::BLOCK, Decoration::Block as u32]);
            out.push(Op::Decorate, &[fixed::BUFFER, Decoration::DescriptorSet as u32, 0]);
            out.push(Op::Decorate, &[fixed::BUFFER, Decoration::Binding as u32, 0]);
        }
        if self.controls().no_contraction {
            for &id in &self.t.arithmetic {
                out.push(Op::Decorate, &[id, Decoration::NoContraction as u32]);
            }
        }
    }

    /// typeid: each type used, declared once under its static id            [lv/mc-types, 000 §6.1]
    fn mc_types(&self, out: &mut Code) {
        out.push(Op::TypeVoid, &[fixed::VOID]);
        for ty in Ground::ALL {
            let id = typeid(ty);
            if !self.t.types[id as usize] {
                continue;
            }
            match ty {
                Ground::Vec(1, Elem::F) => out.push(Op::TypeFloat, &[id, 32]),
                Ground::Vec(1, Elem::B) => out.push(Op::TypeBool, &[id]),
                Ground::Vec(n, e) => out.push(Op::TypeVector, &[id, typeid(Ground::Vec(1, e)), n as u32]),
                Ground::Mat(n) => out.push(Op::TypeMatrix, &[id, typeid(Ground::Vec(n, Elem::F)), n as u32]),
            }
        }
        out.push(Op::TypeFunction, &[fixed::FUNCTION_TYPE, fixed::VOID]);
        let vec4 = typeid(Ground::Vec(4, Elem::F));
        out.push(Op::TypePointer, &[fixed::OUTPUT_POINTER, StorageClass::Output as u32, vec4]);
        if self.t.frag_coord {
            out.push(Op::TypePointer, &[fixed::INPUT_POINTER, StorageClass::Input as u32, vec4]);
        }
        if self.opaque {
            out.push(Op::TypeInt, &[fixed::UINT, 32, 0]);
            out.push(Op::TypeRuntimeArray, &[fixed::ARRAY, fixed::FLOAT]);
            out.push(Op::TypeStruct, &[fixed::BLOCK, fixed::ARRAY]);
            out.push(Op::TypePointer, &[fixed::BLOCK_POINTER, StorageClass::StorageBuffer as u32, fixed::BLOCK]);
            out.push(Op::TypePointer, &[fixed::FLOAT_POINTER, StorageClass::StorageBuffer as u32, fixed::FLOAT]);
        }
    }

    /// O.consts in the module, or opaque: loaded from a buffer
    ///                                                           [lv/mc-constants, 000 §6.3, §6.11]
    ///
    /// O.consts, or their indices in the buffer. Also true and false, and the padding.
    fn mc_constants(&self, out: &mut Code) {
        for (used, op, id) in [(1, Op::ConstantTrue, fixed::TRUE), (0, Op::ConstantFalse, fixed::FALSE)] {
            if self.t.booleans[used] {
                out.push(op, &[fixed::BOOL, id]);
            }
        }
        if self.pads {
            out.push(Op::Constant, &[fixed::FLOAT, fixed::ZERO, 0]);
        }
        if self.opaque {
            out.push(Op::Constant, &[fixed::UINT, fixed::MEMBER, 0]);
        }
        for (k, &(id, bits)) in self.t.consts.iter().enumerate() {
            match self.opaque {
                true => out.push(Op::Constant, &[fixed::UINT, self.index(k), k as u32]),
                false => out.push(Op::Constant, &[fixed::FLOAT, id, bits]),
            }
        }
    }

    /// the output variables, the fragment coordinate, the constant buffer
    ///                                                                 [lv/mc-variables, 000 §6.11]
    fn mc_variables(&self, out: &mut Code) {
        for r in self.results {
            out.push(Op::Variable, &[fixed::OUTPUT_POINTER, self.output(r), StorageClass::Output as u32]);
        }
        if self.t.frag_coord {
            out.push(Op::Variable, &[fixed::INPUT_POINTER, fixed::FRAG_COORD, StorageClass::Input as u32]);
        }
        if self.opaque {
            out.push(Op::Variable, &[fixed::BLOCK_POINTER, fixed::BUFFER, StorageClass::StorageBuffer as u32]);
        }
    }

    /// OpLabel startblock, O.code, OpStore of O.ido, OpReturn               [lv/mc-body, 000 §6.11]
    fn mc_body(&self, out: &mut Code) {
        out.push(Op::Function, &[fixed::VOID, fixed::MAIN, FunctionControl::NONE.bits(), fixed::FUNCTION_TYPE]);
        out.push(Op::Label, &[fixed::START_BLOCK]);
        if self.opaque {
            for (k, &(id, _)) in self.t.consts.iter().enumerate() {
                let pointer = self.pointer(k);
                out.push(Op::AccessChain, &[fixed::FLOAT_POINTER, pointer, fixed::BUFFER, fixed::MEMBER, self.index(k)]);
                out.push(Op::Load, &[fixed::FLOAT, id, pointer]);
            }
        }
        out.append(&self.t.code);
        let mut next = self.padded();
        for r in self.results {
            let value = match r.ty.components() {
                4 => r.id,
                n => {
                    let vec4 = typeid(Ground::Vec(4, Elem::F));
                    out.push_with(Op::CompositeConstruct, &[vec4, next, r.id], &[fixed::ZERO; 3][..4 - n]);
                    next += 1;
                    next - 1
                }
            };
            out.push(Op::Store, &[self.output(r), value]);
        }
        out.push(Op::Return, &[]);
        out.push(Op::FunctionEnd, &[]);
    }
}

/// A part of the module: its rule, and the function that appends it.
type Part<'t, 'a> = (Rule, fn(&Plan<'t, 'a>, &mut Code));

/// The parts in the order of the module.
fn parts<'t, 'a>() -> [Part<'t, 'a>; 8] {
    [
        (Rule::LvMcHeader, Plan::mc_header),
        (Rule::LvMcEntry, Plan::mc_entry),
        (Rule::LvMcControls, Plan::mc_controls),
        (Rule::LvMcDecorations, Plan::mc_decorations),
        (Rule::LvMcTypes, Plan::mc_types),
        (Rule::LvMcConstants, Plan::mc_constants),
        (Rule::LvMcVariables, Plan::mc_variables),
        (Rule::LvMcBody, Plan::mc_body),
    ]
}

/// Builds the module from the code and its results. `idc` is the next usable id.
pub(super) fn create(mut t: Translator<'_>, results: &[Stored], idc: Id) -> Result<Module, Untranslatable> {
    t.mark(Ground::Vec(4, Elem::F));
    let opaque = t.options.constants == Constants::Opaque && !t.consts.is_empty();
    let pads = results.iter().any(|r| r.ty.components() < 4);
    let plan = Plan { t: &t, results, idc, opaque, pads };
    let bound = plan.padded() + results.len() as Id;

    let mut module = Code { words: vec![MAGIC_NUMBER, VERSION, 0, bound, 0], instructions: 0 };
    let mut instructions = 0;
    for (rule, part) in parts() {
        let mut code = Code::default();
        part(&plan, &mut code);
        if let Some(planted) = t.options.planted.section {
            planted(rule, &mut code);
        }
        module.append(&code);
        instructions = code.instructions;
    }
    if module.words.len() > t.options.max_words {
        return Err(Limit { what: "words in a module", bound: t.options.max_words as u64 }.into());
    }
    let constants = if opaque { t.consts.iter().map(|&(_, bits)| bits).collect() } else { Vec::new() };
    let outputs = results.iter().map(|r| Target { location: r.location, components: r.ty.components() as u32 }).collect();
    let mut rules = t.rules;
    let has_modes = t.options.profile.controls().modes().next().is_some();
    rules.extend(parts().iter().map(|(rule, _)| *rule).filter(|&rule| rule != Rule::LvMcControls || has_modes));
    Ok(Module { words: module.words, entry: "main", outputs, constants, witness: t.witness, terms: t.terms, rules, instructions })
}
