//! The pass `viewport`: a draw whose viewport has a positive height becomes one with a negative
//! height that draws the same.
//!
//! wgpu gives a Vulkan driver only viewports of negative height, so that y points up. In the
//! adapted draw, the viewport begins at the other end and its height is negated. The vertex stage
//! negates the y of `Position` before it returns. Framebuffer coordinates are the same, bit for
//! bit: the negation is exact, and so are the products of the viewport transform (Vulkan,
//! Controlling the Viewport). So coverage, facing and `FragCoord` are the same too.
//!
//! Invariant: the adapted draw shows what the original shows. To compare a device with an
//! interpreter, run the adapted words in the interpreter too, and compare by their hash.

use std::sync::Arc;

use rspirv::spirv::{BuiltIn, Decoration, ExecutionModel, StorageClass};
use smallstep_semantics::raster::Viewport;
use smallstep_semantics::spirv::decode;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::words::{Decoded, HEADER_WORDS, string_at};
use smallstep_semantics::spirv::write::push;

use super::CannotAdapt;
use crate::dispatch::resources::defined;
use crate::dispatch::{DrawDispatch, Stage};

/// The draw with a viewport of negative height. It is unchanged if it has one already.
///
/// Errors: the words are not a module of the grammar or lack the entry point, `Position` is
/// declared in an unsupported way, or the other end of the viewport is not exact in 32-bit floats.
pub fn adapt(dispatch: &DrawDispatch) -> Result<DrawDispatch, CannotAdapt> {
    let v = dispatch.state.viewport;
    if v.height < 0.0 {
        return Ok(dispatch.clone());
    }
    let flipped = Viewport { y: v.y + v.height, height: -v.height, ..v };
    let same_start = flipped.y + flipped.height == v.y;
    if !same_start || flipped.y + flipped.height / 2.0 != v.y + v.height / 2.0 {
        return Err(CannotAdapt(format!("the viewport from {} of height {} has no other end and centre in 32-bit floats", v.y, v.height)));
    }
    let mut adapted = dispatch.clone();
    adapted.state.viewport = flipped;
    adapted.vertex = Stage { words: negated(&dispatch.vertex.words, &dispatch.vertex.entry)?, ..dispatch.vertex.clone() };
    Ok(adapted)
}

/// The declaration of `Position`: the variable, the member of its structure if it is a member, and
/// its type.
struct Position {
    variable: u32,
    member: Option<u32>,
    vector: u32,
}

/// The module with a vertex entry point that negates the y of `Position` before it returns. The
/// words are unchanged if it has no `Position`.
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
    // Access to a member needs a pointer type, and a constant with the member's number.
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
                    push(&mut declarations, Op::TypeInt, &[int, 32, 0]);
                    int
                }
            };
            push(&mut declarations, Op::TypePointer, &[pointer, StorageClass::Output as u32, position.vector]);
            push(&mut declarations, Op::Constant, &[int, constant, member]);
            Some((pointer, constant))
        }
    };
    let mut adapted = decoded.words[..HEADER_WORDS].to_vec();
    let mut current_function = None;
    for instruction in &decoded.instructions {
        match instruction.op {
            Op::Function => {
                adapted.append(&mut declarations);
                current_function = Some(instruction.result);
            }
            Op::Return if current_function == Some(function) => {
                let mut at = position.variable;
                if let Some((pointer, constant)) = chain {
                    at = fresh()?;
                    push(&mut adapted, Op::AccessChain, &[pointer, at, position.variable, constant]);
                }
                let [whole, y, negated, flipped] = [fresh()?, fresh()?, fresh()?, fresh()?];
                push(&mut adapted, Op::Load, &[position.vector, whole, at]);
                push(&mut adapted, Op::CompositeExtract, &[scalar, y, whole, 1]);
                push(&mut adapted, Op::FNegate, &[scalar, negated, y]);
                push(&mut adapted, Op::CompositeInsert, &[position.vector, flipped, negated, whole, 1]);
                push(&mut adapted, Op::Store, &[at, flipped]);
            }
            _ => {}
        }
        adapted.extend(instruction.words(decoded.words));
    }
    adapted[3] = next;
    Ok(Arc::from(adapted))
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
    // The variable and the type of each output of the entry point.
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

#[cfg(test)]
mod tests {
    use smallstep_semantics::image::{Format, Image};
    use smallstep_semantics::raster::{self, Topology};
    use smallstep_semantics::spirv::environment::ColourTarget;
    use smallstep_semantics::spirv::{Options, assemble};

    use super::*;
    use crate::dispatch::Geometry;

    /// A vertex entry point "main" that returns in two places, another function, and another entry
    /// point. `decorated` has the decorations of Position.
    fn words(decorated: &str) -> Arc<[u32]> {
        let text = format!(
            "OpCapability Shader
             OpMemoryModel Logical GLSL450
             OpEntryPoint Vertex %main \"main\" %plain %block
             OpEntryPoint Vertex %other \"other\" %elsewhere
             {decorated}
             %void = OpTypeVoid
             %function = OpTypeFunction %void
             %float = OpTypeFloat 32
             %vec4 = OpTypeVector %float 4
             %pair = OpTypeStruct %float %vec4
             %p_vec4 = OpTypePointer Output %vec4
             %p_pair = OpTypePointer Output %pair
             %bool = OpTypeBool
             %true = OpConstantTrue %bool
             %plain = OpVariable %p_vec4 Output
             %elsewhere = OpVariable %p_vec4 Output
             %block = OpVariable %p_pair Output
             %callee = OpFunction %void None %function
             %c = OpLabel
             OpReturn
             OpFunctionEnd
             %main = OpFunction %void None %function
             %entry = OpLabel
             OpSelectionMerge %rest None
             OpBranchConditional %true %early %rest
             %early = OpLabel
             OpReturn
             %rest = OpLabel
             %called = OpFunctionCall %void %callee
             OpReturn
             OpFunctionEnd
             %other = OpFunction %void None %function
             %o = OpLabel
             OpReturn
             OpFunctionEnd"
        );
        Arc::from(assemble(&text, Options::default()).expect("it assembles"))
    }

    fn ops(words: &[u32]) -> Vec<Op> {
        decode(words).expect("it decodes").instructions.iter().map(|i| i.op).collect()
    }

    fn count(words: &[u32], op: Op) -> usize {
        ops(words).iter().filter(|other| **other == op).count()
    }

    #[test]
    fn each_return_of_the_entry_point_negates_and_no_other() {
        for (decorated, chains) in [("OpDecorate %plain BuiltIn Position", 0), ("OpMemberDecorate %pair 1 BuiltIn Position", 2)] {
            let original = words(decorated);
            let adapted = negated(&original, "main").expect("it has a Position");
            let ops = ops(&adapted);
            assert_eq!(count(&adapted, Op::FNegate), 2, "{decorated}");
            assert_eq!(count(&adapted, Op::AccessChain), chains, "{decorated}");
            let returns = (1..ops.len()).filter(|&i| ops[i] == Op::Return).map(|i| ops[i - 1] == Op::Store);
            assert_eq!(returns.collect::<Vec<_>>(), [false, true, true, false], "{decorated}");
            // All other instructions are unchanged and in order, and ids are below the bound.
            let kept = decode(&adapted).expect("it decodes");
            assert!(kept.instructions.iter().all(|i| i.result < adapted[3]));
            assert_eq!(count(&adapted, Op::Variable), count(&original, Op::Variable));
        }
    }

    #[test]
    fn without_a_position_of_its_own_the_words_stay() {
        for decorated in ["", "OpDecorate %elsewhere BuiltIn Position", "OpDecorate %plain BuiltIn PointSize"] {
            let original = words(decorated);
            assert_eq!(negated(&original, "main").expect("it has the entry point"), original, "{decorated}");
        }
    }

    #[test]
    fn what_is_not_known_is_named() {
        let error = |decorated: &str, entry: &str| negated(&words(decorated), entry).expect_err(decorated).0;
        assert!(error("", "absent").contains("no Vertex entry point \"absent\""));
        assert!(error("OpMemberDecorate %pair 0 BuiltIn Position", "main").contains("no vector of four"));
        let grouped = "OpDecorate %group BuiltIn Position\n %group = OpDecorationGroup\n OpGroupDecorate %group %plain";
        assert!(error(grouped, "main").contains("through the group"));
        assert!(!negated(&Arc::from([1, 2, 3]), "main").expect_err("these are no words").0.is_empty());
    }

    /// Each word in turn is replaced by a huge one, by zero or by a neighbour. The result is an
    /// error or other words, never a panic.
    #[test]
    fn altered_words_are_refused_or_adapted() {
        let original = words("OpMemberDecorate %pair 1 BuiltIn Position");
        for at in 0..original.len() {
            for with in [u32::MAX, 0, original[at] + 1, original[at].wrapping_sub(1)] {
                let mut altered = original.to_vec();
                altered[at] = with;
                let _ = negated(&Arc::from(altered), "main");
            }
        }
    }

    #[test]
    fn the_viewport_begins_at_the_other_end() {
        let stage = Stage { words: words("OpDecorate %plain BuiltIn Position"), entry: "main".into() };
        let image = Image::new(Format::R8Unorm, 8, 8, 1).expect("it has texels");
        let mut dispatch = DrawDispatch {
            vertex: stage.clone(),
            fragment: stage,
            geometry: Geometry::of_count(Topology::List, 3),
            buffers: vec![],
            images: vec![],
            samplers: vec![],
            push_constants: vec![],
            state: raster::State::of_size(8, 8),
            targets: vec![ColourTarget { location: 0, image }],
            depth: None,
        };
        (dispatch.state.viewport.y, dispatch.state.viewport.height) = (1.5, 4.0);
        let flipped = adapt(&dispatch).expect("its other end is 5.5");
        assert_eq!((flipped.state.viewport.y, flipped.state.viewport.height), (5.5, -4.0));
        assert_eq!(flipped.fragment, dispatch.fragment);
        assert_ne!(flipped.words_hash(), dispatch.words_hash());
        assert_eq!(adapt(&flipped), Ok(flipped.clone()), "once is enough");
        (dispatch.state.viewport.y, dispatch.state.viewport.height) = (1.0e-6, 16384.0);
        assert!(adapt(&dispatch).expect_err("the sum is rounded").0.contains("no other end"));
    }
}
