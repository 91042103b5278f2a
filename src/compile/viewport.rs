//! The pass `viewport`: a draw whose viewport has a positive height becomes one with a negative height that draws the same.
//!
//! wgpu hands a Vulkan driver only viewports of negative height, so that y points up. The adapted draw has the viewport that begins at the other end with
//! the height negated, and a vertex stage that negates the y of `Position` before it returns. Framebuffer coordinates are the same, bit for bit: the
//! negation is exact, and so are the products of the viewport transform (Vulkan, Controlling the Viewport). So are coverage, facing and `FragCoord`.
//!
//! Invariant: the adapted draw shows what the original shows. Whoever compares a device with an interpreter has the interpreter run the adapted words too,
//! and compares by their hash.

use std::sync::Arc;

use rspirv::spirv::{BuiltIn, Decoration, ExecutionModel, StorageClass};
use smallstep_semantics::raster::Viewport;
use smallstep_semantics::spirv::decode;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::words::{Decoded, HEADER_WORDS, string_at};

use super::CannotAdapt;
use crate::dispatch::resources::defined;
use crate::dispatch::{DrawDispatch, Stage};

/// The draw with a viewport of negative height; the same draw if it has one.
///
/// Errors: the words are no module of the grammar or lack the entry point, `Position` is declared in a way that is not known here, or the other end of the
/// viewport cannot be said exactly.
pub fn adapt(dispatch: &DrawDispatch) -> Result<DrawDispatch, CannotAdapt> {
    let v = dispatch.state.viewport;
    if v.height < 0.0 {
        return Ok(dispatch.clone());
    }
    let turned = Viewport { y: v.y + v.height, height: -v.height, ..v };
    let same_start = turned.y + turned.height == v.y;
    if !same_start || turned.y + turned.height / 2.0 != v.y + v.height / 2.0 {
        return Err(CannotAdapt(format!("the viewport from {} of height {} has no other end and centre in 32-bit floats", v.y, v.height)));
    }
    let mut adapted = dispatch.clone();
    adapted.state.viewport = turned;
    adapted.vertex = Stage { words: negated(&dispatch.vertex.words, &dispatch.vertex.entry)?, ..dispatch.vertex.clone() };
    Ok(adapted)
}

/// Where `Position` is: the variable, the member of its structure if it is one, and its type.
struct Position {
    variable: u32,
    member: Option<u32>,
    vector: u32,
}

/// The module whose vertex entry point negates the y of `Position` before it returns; the same words if it has no `Position`.
fn negated(words: &Arc<[u32]>, entry: &str) -> Result<Arc<[u32]>, CannotAdapt> {
    let decoded = decode(words).map_err(|error| CannotAdapt(error.to_string()))?;
    let (function, interface) = entry_point(&decoded, entry)?;
    let Some(position) = position(&decoded, &interface)? else {
        return Ok(words.clone());
    };
    let scalar = match defined(&decoded, position.vector, Op::TypeVector) {
        Some(&[scalar, 4]) => scalar,
        _ => return Err(CannotAdapt(format!("Position is %{}, which is no vector of four", position.vector))),
    };
    let mut next = decoded.words[3];
    let mut fresh = || {
        let id = next;
        next = next.checked_add(1).ok_or_else(|| CannotAdapt("the module has no ids left".into()))?;
        Ok::<u32, CannotAdapt>(id)
    };
    // What a member is reached by: a pointer type, and a constant with the member's number.
    let mut declarations = Vec::new();
    let chain = match position.member {
        None => None,
        Some(member) => {
            let (pointer, constant) = (fresh()?, fresh()?);
            let int = decoded.instructions.iter().find(|i| i.is(Op::TypeInt) && i.operands(decoded.words)[0] == 32);
            let int = match int {
                Some(int) => int.result,
                None => {
                    let int = fresh()?;
                    put(&mut declarations, Op::TypeInt, &[int, 32, 0]);
                    int
                }
            };
            put(&mut declarations, Op::TypePointer, &[pointer, StorageClass::Output as u32, position.vector]);
            put(&mut declarations, Op::Constant, &[int, constant, member]);
            Some((pointer, constant))
        }
    };
    let mut adapted = decoded.words[..HEADER_WORDS].to_vec();
    let mut within = None;
    for instruction in &decoded.instructions {
        match instruction.op {
            Op::Function => {
                adapted.append(&mut declarations);
                within = Some(instruction.result);
            }
            Op::Return if within == Some(function) => {
                let mut at = position.variable;
                if let Some((pointer, constant)) = chain {
                    at = fresh()?;
                    put(&mut adapted, Op::AccessChain, &[pointer, at, position.variable, constant]);
                }
                let [whole, y, negated, turned] = [fresh()?, fresh()?, fresh()?, fresh()?];
                put(&mut adapted, Op::Load, &[position.vector, whole, at]);
                put(&mut adapted, Op::CompositeExtract, &[scalar, y, whole, 1]);
                put(&mut adapted, Op::FNegate, &[scalar, negated, y]);
                put(&mut adapted, Op::CompositeInsert, &[position.vector, turned, negated, whole, 1]);
                put(&mut adapted, Op::Store, &[at, turned]);
            }
            _ => {}
        }
        adapted.extend(instruction.words(decoded.words));
    }
    adapted[3] = next;
    Ok(Arc::from(adapted))
}

pub(super) fn put(words: &mut Vec<u32>, op: Op, operands: &[u32]) {
    words.push((1 + operands.len() as u32) << 16 | op as u32);
    words.extend(operands);
}

/// The function and the interface of the vertex entry point of that name.
fn entry_point(decoded: &Decoded<'_>, entry: &str) -> Result<(u32, Vec<u32>), CannotAdapt> {
    for instruction in decoded.instructions.iter().filter(|i| i.is(Op::EntryPoint)) {
        let operands = instruction.operands(decoded.words);
        if let Ok((name, length)) = string_at(&operands[2..])
            && operands[0] == ExecutionModel::Vertex as u32
            && name == entry
        {
            return Ok((operands[1], operands[2 + length..].to_vec()));
        }
    }
    Err(CannotAdapt(format!("the module has no Vertex entry point \"{entry}\"")))
}

fn position(decoded: &Decoded<'_>, interface: &[u32]) -> Result<Option<Position>, CannotAdapt> {
    let is_position = |decoration: &[u32]| decoration == [Decoration::BuiltIn as u32, BuiltIn::Position as u32];
    // Of each output of the entry point: its variable and its type.
    let outputs = decoded.instructions.iter().filter(|i| i.is(Op::Variable) && interface.contains(&i.result));
    let outputs: Vec<(u32, u32)> = outputs
        .filter_map(|variable| match defined(decoded, variable.result_type, Op::TypePointer) {
            Some(&[class, pointee]) if class == StorageClass::Output as u32 => Some((variable.result, pointee)),
            _ => None,
        })
        .collect();
    for instruction in &decoded.instructions {
        match (instruction.op, instruction.operands(decoded.words)) {
            (Op::Decorate, [target, decoration @ ..]) if is_position(decoration) => {
                if defined(decoded, *target, Op::DecorationGroup).is_some() {
                    return Err(CannotAdapt(format!("Position is decorated through the group %{target}")));
                }
                if let Some(&(variable, vector)) = outputs.iter().find(|(variable, _)| variable == target) {
                    return Ok(Some(Position { variable, member: None, vector }));
                }
            }
            (Op::MemberDecorate, [target, member, decoration @ ..]) if is_position(decoration) => {
                if let Some(&(variable, structure)) = outputs.iter().find(|(_, pointee)| pointee == target) {
                    let members = defined(decoded, structure, Op::TypeStruct);
                    let vector = members.and_then(|members| members.get(*member as usize)).copied();
                    let vector = vector.ok_or_else(|| CannotAdapt(format!("%{target} has no member {member} to be Position")))?;
                    return Ok(Some(Position { variable, member: Some(*member), vector }));
                }
            }
            _ => {}
        }
    }
    Ok(None)
}
