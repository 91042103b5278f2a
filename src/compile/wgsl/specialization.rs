//! Specialization constants as overrides.
//!
//! Operations on them (OpSpecConstantOp, OpSpecConstantComposite) are spelled at their uses. In
//! WGSL, the length of an array is a constant, except for a workgroup variable of that array type.
//! The constants that other lengths depend on are frozen, and a note says so.

use rspirv::spirv::{BuiltIn, Decoration as Decorate, ExecutionMode, Op, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};
use smallstep_semantics::spirv::module::{EntryPoint, WHOLE};
use smallstep_semantics::spirv::operation::Scalar;
use smallstep_semantics::spirv::words::{Decoded, HEADER_WORDS};
use smallstep_semantics::spirv::{Instruction, decode};

use super::convert::Convert;
use super::function::Body;
use super::layout::Stored;
use super::text::{Expr, Text};
use super::{Refused, Why};

/// The specialization constants of a module, and the constants that depend on them.
#[derive(Debug, Default)]
pub(super) struct Specialized {
    /// By result: the SpecId.
    ids: FxHashMap<u32, u32>,
    /// By result: the operation and its operands.
    operations: FxHashMap<u32, (Op, Vec<u32>)>,
    /// By result: the constituents.
    composites: FxHashMap<u32, Vec<u32>>,
    names: FxHashMap<u32, Text>,
    /// By SpecId: the override and its type.
    declared: FxHashMap<u32, (Text, Text)>,
    /// By array type: the id of its length, if it may depend on overrides.
    lengths: FxHashMap<u32, u32>,
    /// The results of the frozen constants.
    frozen: FxHashSet<u32>,
}

/// The most arrays whose lengths may depend on overrides. Each needs a search of the module.
const MAX_LENGTHS: usize = 64;

/// The deepest nesting of the expression of an array's length.
const MAX_SUM: u32 = 16;

/// Whether any constant may have a SpecId. Only the opcodes before the first function are examined.
fn has_any(words: &[u32]) -> bool {
    let mut at = HEADER_WORDS;
    while let Some(&first) = words.get(at) {
        let (count, op) = ((first >> 16) as usize, first & 0xffff);
        if op == Op::Function as u32 || count == 0 {
            return false;
        }
        if [Op::SpecConstant, Op::SpecConstantTrue, Op::SpecConstantFalse].iter().any(|known| *known as u32 == op) {
            return true;
        }
        at += count;
    }
    false
}

impl Specialized {
    /// Whether a constant depends on an override.
    pub(super) fn has(&self, id: u32) -> bool {
        !self.frozen.contains(&id) && (self.ids.contains_key(&id) || self.operations.contains_key(&id) || self.composites.contains_key(&id))
    }

    /// The specialization constants of the original words.
    pub(super) fn of(words: &[u32], notes: &mut Vec<String>) -> Specialized {
        let mut found = Specialized::default();
        if !has_any(words) {
            return found;
        }
        let Ok(decoded) = decode(words) else { return found };
        let mut ids: FxHashMap<u32, u32> = FxHashMap::default();
        let mut lengths = Vec::new();
        for i in &decoded.instructions {
            let operands = i.operands(words);
            match i.op {
                Op::Decorate if operands.get(1) == Some(&(Decorate::SpecId as u32)) => {
                    ids.extend(operands.get(2).map(|&id| (operands[0], id)));
                }
                Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                    found.ids.extend(ids.get(&i.result).map(|&id| (i.result, id)))
                }
                Op::SpecConstantComposite if operands.iter().any(|&id| found.has(id)) => {
                    found.composites.insert(i.result, operands.to_vec());
                }
                Op::SpecConstantOp if operands.iter().skip(1).any(|&id| found.has(id)) => {
                    if let Some(op) = operands.first().and_then(|&op| Op::from_u32(op)) {
                        found.operations.insert(i.result, (op, operands[1..].to_vec()));
                    }
                }
                Op::TypeArray => lengths.extend(operands.get(1).copied().filter(|&id| found.has(id)).map(|id| (i.result, id))),
                Op::Function => break,
                _ => {}
            }
        }
        let types: FxHashMap<u32, u32> = decoded.instructions.iter().map(|i| (i.result, i.result_type)).collect();
        let few = lengths.len() <= MAX_LENGTHS;
        let keeps = |&(type_, id): &(u32, u32)| few && found.is_sum(id, &types, 0) && only_of_workgroup(&decoded, words, type_);
        let kept: FxHashMap<u32, u32> = lengths.iter().copied().filter(keeps).collect();
        let frozen: Vec<u32> = lengths.into_iter().filter(|(type_, _)| !kept.contains_key(type_)).map(|(_, id)| id).collect();
        found.freeze(frozen, notes);
        found.lengths = kept.into_iter().filter(|&(_, id)| found.has(id)).collect();
        found
    }

    /// Whether a constant is built only from sums, differences and products of one type. Such a
    /// constant can be spelled at module scope.
    fn is_sum(&self, id: u32, types: &FxHashMap<u32, u32>, depth: u32) -> bool {
        match self.operations.get(&id) {
            Some((Op::IAdd | Op::ISub | Op::IMul, parts)) => {
                depth < MAX_SUM && parts.iter().all(|part| types.get(part) == types.get(&id) && self.is_sum(*part, types, depth + 1))
            }
            Some(_) => false,
            None => !self.composites.contains_key(&id),
        }
    }

    /// Freezes some constants and all constants that they depend on.
    fn freeze(&mut self, mut work: Vec<u32>, notes: &mut Vec<String>) {
        while let Some(id) = work.pop() {
            if !self.has(id) {
                continue;
            }
            if let Some(spec) = self.ids.get(&id) {
                notes.push(format!("specialization constant {spec} is frozen: the length of an array depends on it"));
            }
            let parts = self.operations.get(&id).map(|(_, operands)| operands).or_else(|| self.composites.get(&id));
            work.extend(parts.into_iter().flatten());
            self.frozen.insert(id);
        }
    }
}

/// Whether an array type is only the type of workgroup variables, and no such array is read or
/// written as a whole.
fn only_of_workgroup(decoded: &Decoded<'_>, words: &[u32], type_: u32) -> bool {
    let mut pointers = FxHashSet::default();
    for i in &decoded.instructions {
        let operands = i.operands(words);
        let names = |id: &u32| *id == type_;
        match i.op {
            Op::TypePointer if operands.get(1) == Some(&type_) => {
                if operands[0] != StorageClass::Workgroup as u32 {
                    return false;
                }
                pointers.insert(i.result);
            }
            Op::TypeArray | Op::TypeRuntimeArray if operands.first().is_some_and(names) => return false,
            Op::TypeStruct | Op::TypeFunction if operands.iter().any(names) => return false,
            Op::TypeFunction if operands.iter().any(|id| pointers.contains(id)) => return false,
            _ if i.result_type == type_ => return false,
            // A pointer to the type must be a variable, not a part of one.
            op if op != Op::Variable && pointers.contains(&i.result_type) => return false,
            _ => {}
        }
    }
    true
}

impl Convert<'_> {
    /// The WGSL type of a workgroup variable that is an array with an override as its length.
    /// `None` for other variables.
    pub(super) fn length_by_override(&mut self, id: u32, stored: &Stored) -> Result<Option<String>, Refused> {
        let Some(type_) = self.module.variable(id).map(|v| v.type_) else { return Ok(None) };
        let Some(&length_id) = self.specialized.lengths.get(&type_) else { return Ok(None) };
        let Some(mut length) = self.override_expression(length_id)? else {
            return Err(self.refused(Why::Limit, format!("the length of %{id} has no form")));
        };
        if self.specialized.operations.contains_key(&length_id) {
            // naga accepts the name of an override as a length, but no expression.
            let type_ = self.value_type(self.module.type_of(length_id).unwrap_or(0))?;
            let name = self.names.fresh("length");
            self.globals.push_str(&format!("override {name}: {type_} = {};\n", length.text));
            length = Expr::name(name);
        }
        let Some((element, _)) = stored.text.rsplit_once(", ") else { return Ok(None) };
        Ok(Some(format!("{element}, {}>", length.text)))
    }

    /// The expression of a constant that depends on overrides. `None` if it cannot stand at
    /// module scope.
    fn override_expression(&mut self, id: u32) -> Result<Option<Expr>, Refused> {
        if let Some(name) = self.override_name(id)? {
            return Ok(Some(Expr::name(name)));
        }
        let Some((op, operands)) = self.specialized.operations.get(&id).cloned() else {
            return self.finite_constant(id, None);
        };
        let operator = match op {
            Op::IAdd => "+",
            Op::ISub => "-",
            Op::IMul => "*",
            _ => return Ok(None),
        };
        let mut parts = Vec::new();
        for &operand in &operands {
            parts.extend(smallstep_semantics::text::deep(|| self.override_expression(operand))?);
        }
        Ok(match &parts[..] {
            [a, b] => Some(Expr::binary(operator, a, b)),
            _ => None,
        })
    }

    /// The name of the override of a specialization constant. It is declared on first use. `None`
    /// for other constants.
    fn override_name(&mut self, id: u32) -> Result<Option<Text>, Refused> {
        if let Some(name) = self.specialized.names.get(&id) {
            return Ok(Some(name.clone()));
        }
        let Some(spec) = self.specialized.ids.get(&id).copied().filter(|_| self.specialized.has(id)) else { return Ok(None) };
        let Some(default) = self.finite_constant(id, None)? else { return Ok(None) };
        let text = self.value_type(self.module.type_of(id).unwrap_or(0))?;
        let wanted_name = self.op_name(id).map_or_else(|| format!("override_{spec}"), str::to_string);
        // Several constants may have one SpecId, which has one override.
        let (line, name) = match self.specialized.declared.get(&spec).cloned() {
            Some((name, type_)) if type_ == text => {
                self.specialized.names.insert(id, name.clone());
                return Ok(Some(name));
            }
            Some((other, _)) => {
                let name = self.names.fresh(&wanted_name);
                (format!("override {name}: {text} = {text}({other});\n"), name)
            }
            None => {
                let name = self.names.fresh(&wanted_name);
                self.specialized.declared.insert(spec, (name.clone(), text.clone()));
                (format!("@id({spec}) override {name}: {text} = {};\n", default.text), name)
            }
        };
        self.globals.push_str(&line);
        self.specialized.names.insert(id, name.clone());
        Ok(Some(name))
    }

    /// The size of a workgroup, with the names of overrides where they decide it.
    pub(super) fn workgroup_size(&mut self, entry: &EntryPoint, size: [u32; 3]) -> Result<[String; 3], Refused> {
        let module = self.module;
        let built_in = |i: &&Instruction| {
            i.is(Op::Decorate)
                && i.operands(module.words()).get(1..3) == Some(&[Decorate::BuiltIn as u32, BuiltIn::WorkgroupSize as u32][..])
        };
        let by_built_in = module.instructions().iter().find(built_in).map(|i| i.operands(module.words())[0]);
        let by_built_in = by_built_in.filter(|&id| module.built_in(id, WHOLE).is_some()).and_then(|id| module.instruction(id));
        let by_mode = module.instructions().iter().find(|i| {
            i.is(Op::ExecutionModeId)
                && i.operands(module.words()).get(..2) == Some(&[entry.function, ExecutionMode::LocalSizeId as u32][..])
        });
        let parts: Vec<u32> = match (by_built_in, by_mode) {
            (Some(i), _) => i.operands(module.words()).to_vec(),
            (None, Some(i)) => i.operands(module.words())[2..].to_vec(),
            (None, None) => Vec::new(),
        };
        let mut text = size.map(|n| n.to_string());
        for (text, &id) in text.iter_mut().zip(&parts) {
            if let Some(name) = self.override_name(id)? {
                *text = name.to_string();
            }
        }
        Ok(text)
    }
}

impl Body<'_, '_> {
    /// A constant that depends on overrides, with integers of that sign.
    pub(super) fn specialized(&mut self, id: u32, as_signed: Option<bool>) -> Result<Expr, Refused> {
        let module = self.convert.module;
        let shape = module.shape(id);
        let type_ = module.type_of(id).unwrap_or(0);
        let value = if let Some((op, operands)) = self.convert.specialized.operations.get(&id).cloned() {
            let at = module.instruction(id).map_or(0, |i| i.offset);
            let i = Instruction { op, word_count: 0, offset: at, result_type: type_, result: id };
            self.captured(&i, &operands)?
        } else if let Some(parts) = self.convert.specialized.composites.get(&id).cloned() {
            let mut spelled = Vec::new();
            for part in parts {
                spelled.push(smallstep_semantics::text::deep(|| self.value(part))?);
            }
            let name = self.convert.value_type(type_)?;
            Expr::call(&name, &spelled)
        } else {
            match self.convert.override_name(id)? {
                Some(name) => Expr::name(name),
                None => self.infinite(id)?,
            }
        };
        let value = Expr { constant: false, ..value };
        match (as_signed, shape.scalar) {
            (Some(signed), Scalar::Int { signed: is, .. }) if is != signed => {
                let name = self.convert.shape_type(self.convert.signed_shape(shape, signed))?;
                Ok(Expr::call(&format!("bitcast<{name}>"), &[value]))
            }
            _ => Ok(value),
        }
    }
}
