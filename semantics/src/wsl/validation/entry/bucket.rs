//! The four buckets of arguments and results: seed 004 "Arguments and Return Types",
//! "Built-in Variables".

use super::flatten::ep_bucket;
use super::{Direction, Item, Stage};
use crate::rule::Rule;
use crate::wsl::environment::{Builder, Environment, Semantic};
use crate::wsl::error::Error;
use crate::wsl::syntax::{AddressSpace, BuiltinSemantic, Qualifier};
use crate::wsl::types::{Scalar, Type, TypeId};

/// Checks an item by its bucket.
pub fn check(b: &mut Builder, item: &Item, stage: Stage, direction: Direction) {
    let Some(semantic) = ep_bucket(b, item) else { return };
    if !ep_stage_buckets(b, item, semantic, stage, direction) {
        return;
    }
    match semantic {
        Semantic::Builtin(_) | Semantic::Target(_) => ep_builtin(b, item, semantic, stage, direction),
        Semantic::Register(..) => {
            if ep_resource_type(b, item) && ep_resource_space(b, item) {
                ep_slice_element(b, item);
            }
        }
        Semantic::Attribute(_) => {
            ep_stage_variable(b, item);
            if matches!((stage, direction), (Stage::Vertex, Direction::Out) | (Stage::Fragment, Direction::In)) {
                ep_interpolation(b, item);
                ep_sampling(b, item);
            }
        }
        Semantic::Specialized => ep_specialized(b, item),
        // `ep_bucket` has reported it.
        Semantic::OutOfRange => {}
    }
}

fn item_text(env: &Environment, item: &Item) -> String {
    item.name.map_or("what this entry point returns".to_string(), |n| format!("`{}`", env.names.name(n)))
}

pub(super) fn semantic_text(semantic: Semantic) -> String {
    match semantic {
        Semantic::Builtin(s) => s.keyword().into(),
        Semantic::Target(n) => format!("SV_Target {n}"),
        Semantic::Attribute(n) => format!("attribute({n})"),
        Semantic::Register(..) => "register".into(),
        Semantic::Specialized => "specialized".into(),
        Semantic::OutOfRange => "a semantic without number".into(),
    }
}

fn direction_text(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "an argument",
        Direction::Out => "a result",
    }
}

/// vertex and fragment stages take every bucket, compute stages built-ins and resources; vertex
/// stages give built-ins and stage-out variables, fragment stages built-ins, compute stages nothing
///                                  [wsl/ep-stage-buckets, 004 Arguments and Return Types; WSL-C25]
pub fn ep_stage_buckets(b: &mut Builder, item: &Item, semantic: Semantic, stage: Stage, direction: Direction) -> bool {
    let builtin = matches!(semantic, Semantic::Builtin(_) | Semantic::Target(_));
    let holds = match (stage, direction) {
        (Stage::Vertex | Stage::Fragment, Direction::In) => true,
        (Stage::Compute(_), Direction::In) => builtin || matches!(semantic, Semantic::Register(..)),
        (Stage::Vertex, Direction::Out) => builtin || matches!(semantic, Semantic::Attribute(_)),
        (Stage::Fragment, Direction::Out) => builtin,
        (Stage::Compute(_), Direction::Out) => false,
    };
    b.require(Rule::WslEpStageBuckets, holds, |env| {
        let (item_text, semantic_text, direction_text, stage) =
            (item_text(env, item), semantic_text(semantic), direction_text(direction), stage.keyword());
        Error::new(
            Rule::WslEpStageBuckets,
            item.span,
            format!("{item_text} is {semantic_text}, which {direction_text} of a {stage} entry point cannot be"),
        )
    })
}

/// The type of a built-in variable. `None` if the stage does not have it as argument or result.
fn builtin_type(semantic: Semantic, stage: Stage, direction: Direction) -> Option<TypeId> {
    use BuiltinSemantic as S;
    let uint3 = TypeId::vector(Scalar::Uint, 3);
    let float4 = TypeId::vector(Scalar::Float, 4);
    Some(match (semantic, stage, direction) {
        (Semantic::Builtin(S::InstanceId | S::VertexId), Stage::Vertex, Direction::In) => TypeId::UINT,
        (Semantic::Builtin(S::PointSize), Stage::Vertex, Direction::Out) => TypeId::FLOAT,
        (Semantic::Builtin(S::Position), Stage::Vertex, Direction::Out) => float4,
        (Semantic::Builtin(S::IsFrontFace), Stage::Fragment, Direction::In) => TypeId::BOOL,
        (Semantic::Builtin(S::SampleIndex | S::InnerCoverage), Stage::Fragment, Direction::In) => TypeId::UINT,
        (Semantic::Target(_), Stage::Fragment, Direction::Out) => float4,
        (Semantic::Builtin(S::Depth), Stage::Fragment, Direction::Out) => TypeId::FLOAT,
        (Semantic::Builtin(S::Coverage), Stage::Fragment, Direction::Out) => TypeId::UINT,
        (Semantic::Builtin(S::DispatchThreadId | S::GroupId | S::GroupThreadId), Stage::Compute(_), Direction::In) => uint3,
        (Semantic::Builtin(S::GroupIndex), Stage::Compute(_), Direction::In) => TypeId::UINT,
        _ => return None,
    })
}

/// a built-in variable has the type of its semantic, and stands where its stage has it
///                                                         [wsl/ep-builtin, 004 Built-in Variables]
pub fn ep_builtin(b: &mut Builder, item: &Item, semantic: Semantic, stage: Stage, direction: Direction) {
    let ty = builtin_type(semantic, stage, direction);
    b.require(Rule::WslEpBuiltin, ty == Some(item.ty), |env| {
        let (item_text, semantic_text) = (item_text(env, item), semantic_text(semantic));
        let message = match ty {
            None => format!(
                "{item_text} is {semantic_text}, which is not available as {} of a {} entry point",
                direction_text(direction),
                stage.keyword()
            ),
            Some(ty) => {
                format!("{item_text} is {semantic_text} and has the type {}; the rule needs {}", env.type_name(item.ty), env.type_name(ty))
            }
        };
        Error::new(Rule::WslEpBuiltin, item.span, message)
    });
}

/// a resource is a texture, a sampler or an array reference
///                                 [wsl/ep-resource-type, 004 Arguments and Return Types, bucket 2]
pub fn ep_resource_type(b: &mut Builder, item: &Item) -> bool {
    let holds = matches!(b.env.types.get(item.ty), Type::Texture(..) | Type::Sampler | Type::ArrayReference(..));
    b.require(Rule::WslEpResourceType, holds, |env| {
        let message = format!(
            "the resource {} has the type {}; the rule needs a texture, a sampler or an array reference",
            item_text(env, item),
            env.type_name(item.ty)
        );
        Error::new(Rule::WslEpResourceType, item.span, message)
    })
}

/// a resource is in the device or constant address space
///                                [wsl/ep-resource-space, 004 Arguments and Return Types, bucket 2]
///
/// Samplers and textures count as resources in `constant`.
pub fn ep_resource_space(b: &mut Builder, item: &Item) -> bool {
    let space = match b.env.types.get(item.ty) {
        Type::ArrayReference(space, _) => space,
        _ => AddressSpace::Constant,
    };
    b.require(Rule::WslEpResourceSpace, matches!(space, AddressSpace::Constant | AddressSpace::Device), |env| {
        let message =
            format!("the resource {} is in the {} address space; the rule needs device or constant", item_text(env, item), space.keyword());
        Error::new(Rule::WslEpResourceSpace, item.span, message)
    })
}

/// an array reference that is a resource holds scalars, vectors, matrices, or structures of them
///                                 [wsl/ep-slice-element, 004 Arguments and Return Types, bucket 2]
pub fn ep_slice_element(b: &mut Builder, item: &Item) {
    let Type::ArrayReference(_, element) = b.env.types.get(item.ty) else { return };
    let forbidden = b.forbidden_element(element);
    b.require(Rule::WslEpSliceElement, forbidden.is_none(), |env| {
        let found = forbidden.map(|ty| env.type_name(ty)).unwrap_or_default();
        let message =
            format!("the resource {} holds {found}; it may hold scalars, vectors, matrices and structures of them", item_text(env, item));
        Error::new(Rule::WslEpSliceElement, item.span, message)
    });
}

/// a stage-in or stage-out variable is a scalar, a vector or a matrix
///                                [wsl/ep-stage-variable, 004 Arguments and Return Types, bucket 3]
pub fn ep_stage_variable(b: &mut Builder, item: &Item) {
    let holds = matches!(b.env.types.get(item.ty), Type::Scalar(_) | Type::Vector(..) | Type::Matrix(..));
    b.require(Rule::WslEpStageVariable, holds, |env| {
        let message = format!(
            "the attribute {} has the type {}; the rule needs a scalar, a vector or a matrix",
            item_text(env, item),
            env.type_name(item.ty)
        );
        Error::new(Rule::WslEpStageVariable, item.span, message)
    });
}

/// a specialization constant is a scalar
///                                   [wsl/ep-specialized, 004 Arguments and Return Types, bucket 4]
pub fn ep_specialized(b: &mut Builder, item: &Item) {
    let holds = matches!(b.env.types.get(item.ty), Type::Scalar(_));
    b.require(Rule::WslEpSpecialized, holds, |env| {
        let message = format!(
            "the specialization constant {} has the type {}; the rule needs a scalar",
            item_text(env, item),
            env.type_name(item.ty)
        );
        Error::new(Rule::WslEpSpecialized, item.span, message)
    });
}

fn not_both(b: &mut Builder, rule: Rule, item: &Item, first: Qualifier, second: Qualifier) {
    let both = item.qualifiers.contains(&first) && item.qualifiers.contains(&second);
    b.require(rule, !both, |env| {
        Error::new(
            rule,
            item.span,
            format!("{} is both {} and {}; the rule needs at most one", item_text(env, item), first.keyword(), second.keyword()),
        )
    });
}

/// a stage-out variable of a vertex stage or stage-in variable of a fragment stage is not both
/// nointerpolation and noperspective         [wsl/ep-interpolation, 004 Arguments and Return Types]
pub fn ep_interpolation(b: &mut Builder, item: &Item) {
    not_both(b, Rule::WslEpInterpolation, item, Qualifier::Nointerpolation, Qualifier::Noperspective);
}

/// a stage-out variable of a vertex stage or stage-in variable of a fragment stage is not both
/// centroid and sample                            [wsl/ep-sampling, 004 Arguments and Return Types]
pub fn ep_sampling(b: &mut Builder, item: &Item) {
    not_both(b, Rule::WslEpSampling, item, Qualifier::Centroid, Qualifier::Sample);
}
