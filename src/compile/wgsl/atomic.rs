//! Atomics and barriers (seed 002, Post-process: atomic functions).
//!
//! In SPIR-V an instruction is atomic, and in WGSL a type is. So memory that an atomic may access
//! is declared `atomic`, and plain accesses to it become `atomicLoad` and `atomicStore`. WGSL's
//! atomics are relaxed.

use rspirv::spirv::{ExecutionModel, MemorySemantics, Op, Scope};
use rustc_hash::FxHashSet;
use smallstep_semantics::spirv::Instruction;
use smallstep_semantics::spirv::module::EntryPoint;
use smallstep_semantics::spirv::operation::Scalar;

use super::convert::Convert;
use super::function::Body;
use super::layout::Rep;
use super::place::{Kind, Place};
use super::pointer::{Step, steps};
use super::text::Expr;
use super::usage::{Placement, is_combinatorial};
use super::{Refused, Why};

/// The most paths from atomics to variables that are followed.
const MAX_PATHS: usize = 1 << 16;

impl Convert<'_> {
    /// Finds whether all workgroups have one invocation, and which memory any OpMemoryBarrier
    /// orders. Without atomics, only barriers make the writes of other invocations visible. So it
    /// is enough if each barrier orders all of that memory.
    pub(super) fn find_barriers(&mut self, entries: &[EntryPoint]) -> Result<(), Refused> {
        let module = self.module;
        self.has_single_invocations = true;
        for entry in entries {
            let size = module.modes(entry).workgroup_size;
            self.has_single_invocations &= size == Some([1; 3]) && self.workgroup_size(entry, [1; 3])?.iter().all(|n| n == "1");
        }
        if !self.scan.atomics.is_empty() || self.scan.barriers.is_empty() {
            return Ok(());
        }
        self.fenced_memory = MemorySemantics::ACQUIRE_RELEASE.bits();
        for &at in self.scan.barriers.iter().filter(|_| !self.plan.forgets_orders()) {
            let semantics = module.instructions()[at as usize].operands(module.words())[1];
            self.fenced_memory |= module.constant_value(semantics).unwrap_or(0) as u32;
        }
        Ok(())
    }

    /// Finds the parts of variables that atomics access.
    pub(super) fn find_atomics(&mut self) -> Result<(), Refused> {
        let module = self.module;
        if self.scan.atomics.is_empty() {
            return Ok(());
        }
        let arguments = self.arguments();
        let mut seen: FxHashSet<(u32, Vec<u32>)> = FxHashSet::default();
        let mut work: Vec<(u32, Vec<u32>)> = Vec::new();
        for &at in &self.scan.atomics {
            work.push((module.instructions()[at as usize].operands(module.words())[0], Vec::new()));
        }
        while let Some((id, path)) = work.pop() {
            if !seen.insert((id, path.clone())) {
                continue;
            }
            if seen.len() > MAX_PATHS {
                return Err(self.refused(Why::Limit, "the atomics of the module reach too many variables".into()));
            }
            if module.variable(id).is_some() {
                self.atomics.add(id, &path);
                continue;
            }
            let Some(i) = module.instruction(id) else { continue };
            let operands = i.operands(module.words());
            match i.op {
                Op::CopyObject => work.push((operands[0], path)),
                Op::Phi => work.extend(operands.iter().step_by(2).map(|&id| (id, path.clone()))),
                Op::Select => work.extend(operands[1..].iter().map(|&id| (id, path.clone()))),
                Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                    let first = if matches!(i.op, Op::AccessChain | Op::InBoundsAccessChain) { 1 } else { 2 };
                    let steps = steps(module, operands[0], operands.get(first..).unwrap_or(&[]));
                    let number = |step: &Step| if let Step::Member(member) = step { *member } else { 0 };
                    let path = steps.iter().map(number).chain(path).collect();
                    work.push((operands[0], path));
                }
                Op::FunctionParameter => {
                    for &argument in arguments.get(&id).into_iter().flatten() {
                        work.push((argument, path.clone()));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Body<'_, '_> {
    /// OpControlBarrier. It also orders the memory of an OpMemoryBarrier right before it.
    ///
    /// If each workgroup has one invocation, a barrier of workgroup scope has no effect and is left
    /// out. WGSL's uniformity analysis does not consider the size, and might refuse the barrier.
    pub(super) fn control_barrier(&mut self, i: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        let module = self.convert.module;
        let execution = module.constant_value(operands[0]).unwrap_or(0) as u32;
        if execution != Scope::Workgroup as u32 {
            return Err(self.convert.refused_at(i, Why::Barrier, "WGSL's barriers are those of a workgroup"));
        }
        let earlier = std::mem::take(&mut self.ordered_memory);
        let is_within = module.constant_value(operands[1]) == Some(Scope::Workgroup as u64) && earlier == 0;
        if self.convert.has_single_invocations && (is_within || self.convert.scan.atomics.is_empty()) {
            return Ok(());
        }
        let semantics = module.constant_value(operands[2]).unwrap_or(0) as u32 | earlier;
        self.barriers(semantics | self.convert.fenced_memory);
        Ok(())
    }

    fn barriers(&mut self, semantics: u32) {
        let semantics = MemorySemantics::from_bits_truncate(semantics);
        let mut barriers = Vec::new();
        if semantics.contains(MemorySemantics::UNIFORM_MEMORY) {
            barriers.push("storageBarrier();");
        }
        if semantics.contains(MemorySemantics::IMAGE_MEMORY) {
            barriers.push("textureBarrier();");
        }
        if barriers.is_empty() || semantics.contains(MemorySemantics::WORKGROUP_MEMORY) {
            barriers.insert(0, "workgroupBarrier();");
        }
        for barrier in barriers {
            self.line(barrier.into());
        }
    }

    /// OpMemoryBarrier, which WGSL lacks. It becomes part of the barrier that follows. If every
    /// invocation reaches it, it becomes a barrier of its own, which orders more. Elsewhere, every
    /// barrier of the module orders its memory ([`Convert::find_barriers`]).
    pub(super) fn memory_barrier(&mut self, index: usize, i: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        let module = self.convert.module;
        let semantics = module.constant_value(operands[1]).unwrap_or(0) as u32;
        let following = module.instructions().get(index + 1..).unwrap_or(&[]);
        let next =
            following.iter().find(|i| !matches!(i.op, Op::Line | Op::NoLine | Op::Nop | Op::MemoryBarrier) && !is_combinatorial(module, i));
        if next.is_some_and(|next| next.is(Op::ControlBarrier)) {
            self.ordered_memory |= semantics;
            return Ok(());
        }
        if self.convert.fenced_memory != 0 {
            return Ok(());
        }
        let computes = self.convert.entry.as_ref().is_some_and(|e| e.model == ExecutionModel::GLCompute);
        if computes && self.is_reached_by_all() {
            self.barriers(semantics);
            return Ok(());
        }
        Err(self.convert.refused_at(i, Why::Barrier, "WGSL has no memory barrier that only some invocations come to, between atomics"))
    }

    /// Writes an atomic instruction.
    pub(super) fn atomic(&mut self, index: usize, i: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        let place = self.place(operands[0])?;
        let unused = self.placement(index) == Placement::Unused;
        let Some(choice) = place.choice.clone() else {
            return match self.atomic_at(&place, i, operands)? {
                Some(Old { value, is_call: true, .. }) if unused => {
                    self.line(format!("{};", value.text));
                    Ok(())
                }
                Some(Old { value, signed, .. }) if !unused => {
                    let value = self.as_result(value, signed, i)?;
                    self.define(index, i, value)
                }
                _ => Ok(()),
            };
        };
        let name = self.convert.names.local("chosen");
        if i.result != 0 {
            let text = self.convert.value_type(i.result_type)?;
            self.line(format!("var {name}: {text};"));
        }
        self.for_each_choice(&choice, &mut |this, place| {
            if let Some(Old { value, signed, .. }) = this.atomic_at(place, i, operands)? {
                let value = this.as_result(value, signed, i)?;
                this.line(format!("{name} = {};", value.text));
            }
            Ok(())
        })?;
        if i.result == 0 || unused { Ok(()) } else { self.define(index, i, Expr::name(name)) }
    }

    /// Writes an atomic instruction at one place. Returns the original value, if the instruction
    /// has one.
    fn atomic_at(&mut self, place: &Place, i: &Instruction, operands: &[u32]) -> Result<Option<Old>, Refused> {
        let (text, signed) = match &place.kind {
            Kind::Stored(stored) => match stored.rep {
                Rep::Atomic(type_) => {
                    (place.text.clone(), matches!(self.convert.module.shape(type_).scalar, Scalar::Int { signed: true, .. }))
                }
                _ => return Err(self.convert.refused_at(i, Why::Atomics, "WGSL has no atomic of that type")),
            },
            Kind::Words(spot) => (self.word_at(place, spot)?, false),
            _ => {
                return Err(self.convert.refused_at(
                    i,
                    Why::Atomics,
                    "WGSL has atomics in storage buffers and in workgroup variables only",
                ));
            }
        };
        let pointer = Expr::name(format!("&{text}"));
        let one = Expr::literal(if signed { "1i" } else { "1u" });
        let operand = |this: &mut Self, at: usize| this.integer(operands[at], signed);
        let (function, arguments) = match i.op {
            Op::AtomicLoad => ("atomicLoad", vec![pointer]),
            Op::AtomicStore => {
                let value = operand(self, 3)?;
                self.line(format!("atomicStore(&{text}, {});", value.argument()));
                return Ok(None);
            }
            Op::AtomicExchange => ("atomicExchange", vec![pointer, operand(self, 3)?]),
            Op::AtomicIIncrement => ("atomicAdd", vec![pointer, one]),
            Op::AtomicIDecrement => ("atomicSub", vec![pointer, one]),
            Op::AtomicIAdd => ("atomicAdd", vec![pointer, operand(self, 3)?]),
            Op::AtomicISub => ("atomicSub", vec![pointer, operand(self, 3)?]),
            Op::AtomicAnd => ("atomicAnd", vec![pointer, operand(self, 3)?]),
            Op::AtomicOr => ("atomicOr", vec![pointer, operand(self, 3)?]),
            Op::AtomicXor => ("atomicXor", vec![pointer, operand(self, 3)?]),
            Op::AtomicSMin | Op::AtomicUMin | Op::AtomicSMax | Op::AtomicUMax => {
                let by_sign = matches!(i.op, Op::AtomicSMin | Op::AtomicSMax);
                let least = matches!(i.op, Op::AtomicSMin | Op::AtomicUMin);
                if by_sign == signed {
                    (if least { "atomicMin" } else { "atomicMax" }, vec![pointer, operand(self, 3)?])
                } else {
                    return self.atomic_of_other_sign(operands, &text, signed, if least { "min" } else { "max" }).map(Some);
                }
            }
            Op::AtomicCompareExchange => return self.compare_exchange(operands, &text, signed).map(Some),
            _ => return Err(self.convert.refused_at(i, Why::Atomics, "WGSL has no such atomic")),
        };
        let call = Expr { constant: false, ..Expr::call(function, &arguments) };
        Ok(Some(Old { value: call, signed, is_call: true }))
    }

    /// The minimum or maximum of the sign that differs from the atomic's type. It is a loop with
    /// compare-exchange, until no other invocation intervenes.
    fn atomic_of_other_sign(&mut self, operands: &[u32], place: &str, signed: bool, function: &str) -> Result<Old, Refused> {
        let value = self.integer(operands[3], !signed)?;
        let value = self.repeatable(&value)?;
        let (own, other) = if signed { ("i32", "u32") } else { ("u32", "i32") };
        let old = self.convert.names.local("old");
        let tried = self.convert.names.local("tried");
        self.line(format!("var {old} = atomicLoad(&{place});"));
        self.line_of(&["loop {"]);
        self.line(format!(
            "    let {tried} = atomicCompareExchangeWeak(&{place}, {old}, bitcast<{own}>({function}(bitcast<{other}>({old}), {})));",
            value.text
        ));
        self.line(format!("    if {tried}.exchanged {{"));
        self.line_of(&["        break;"]);
        self.line_of(&["    }"]);
        self.line(format!("    {old} = {tried}.old_value;"));
        self.line_of(&["}"]);
        Ok(Old { value: Expr::name(old), signed, is_call: false })
    }

    /// Compare-exchange. In WGSL it may fail spuriously, but not in SPIR-V.
    fn compare_exchange(&mut self, operands: &[u32], place: &str, signed: bool) -> Result<Old, Refused> {
        let (value, comparator) = (self.integer(operands[4], signed)?, self.integer(operands[5], signed)?);
        let (value, comparator) = (self.repeatable(&value)?, self.repeatable(&comparator)?);
        let old = self.convert.names.local("old");
        let tried = self.convert.names.local("tried");
        self.line(format!("var {old} = {};", comparator.text));
        self.line_of(&["loop {"]);
        self.line(format!("    let {tried} = atomicCompareExchangeWeak(&{place}, {}, {});", comparator.text, value.text));
        self.line(format!("    {old} = {tried}.old_value;"));
        self.line(format!("    if {tried}.exchanged | ({old} != {}) {{", comparator.text));
        self.line_of(&["        break;"]);
        self.line_of(&["    }"]);
        self.line_of(&["}"]);
        Ok(Old { value: Expr::name(old), signed, is_call: false })
    }
}

/// The original value of an atomic. Its sign may differ from the result type.
struct Old {
    value: Expr,
    signed: bool,
    /// Whether `value` is the call of the atomic function, which is not written yet.
    is_call: bool,
}
