//! Names of built-in types: seed 004 "Built-in Types".

use super::pattern::vector_or_scalar;
use crate::rule::Rule;
use crate::wsl::types::{EnumId, Scalar, StructId, TextureKind, Type, TypeId, Types};

/// An argument of a type name, between `<` and `>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeArgumentValue {
    /// An integer literal of that value.
    Integer(i128),
    /// A type.
    Type(TypeId),
    /// Anything else.
    Other,
}

/// Why a name with its arguments names no built-in type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeNameError {
    /// No built-in type has that name.
    Unknown,
    /// The arguments do not fit the type. Holds the rule, and what was found against what
    /// is needed.
    Arguments(Rule, String),
}

type Found = Result<TypeId, TypeNameError>;
type Arguments<'a> = Option<&'a [TypeArgumentValue]>;

fn without_arguments(rule: Rule, id: TypeId, name: &str, arguments: Arguments) -> Found {
    match arguments {
        None => Ok(id),
        Some(found) => Err(TypeNameError::Arguments(rule, format!("`{name}` has {}; it takes none", count_text(found.len())))),
    }
}

fn count_text(arguments: usize) -> String {
    format!("{arguments} type argument{}", if arguments == 1 { "" } else { "s" })
}

fn wrong_count(rule: Rule, name: &str, found: usize, required: &str) -> TypeNameError {
    TypeNameError::Arguments(rule, format!("`{name}` has {}; it needs {required}", count_text(found)))
}

/// The scalar type that the argument is, if it is one.
fn scalar_of(types: &Types, argument: TypeArgumentValue) -> Option<Scalar> {
    match argument {
        TypeArgumentValue::Type(id) => match types.get(id) {
            Type::Scalar(s) => Some(s),
            _ => None,
        },
        _ => None,
    }
}

/// Checks that a number of elements, columns or rows is an integer literal from 2 to 4.
fn size_of(rule: Rule, name: &str, what: &str, argument: TypeArgumentValue) -> Result<u8, TypeNameError> {
    match argument {
        TypeArgumentValue::Integer(n @ 2..=4) => Ok(n as u8),
        TypeArgumentValue::Integer(n) => {
            Err(TypeNameError::Arguments(rule, format!("the number of {what} of `{name}` is {n}; it must be 2, 3 or 4")))
        }
        _ => Err(TypeNameError::Arguments(rule, format!("the number of {what} of `{name}` must be an integer literal: 2, 3 or 4"))),
    }
}

/// void, bool, uint, int and float are types                 [wsl/lib-scalar, 004 Built-in Scalars]
///
/// `void`, `bool`, `uint`, `int`, `float`.
pub fn scalar(name: &str) -> Option<TypeId> {
    match name {
        "void" => Some(TypeId::VOID),
        _ => Scalar::ALL.into_iter().find(|s| s.name() == name).map(TypeId::scalar),
    }
}

/// atomic_int and atomic_uint are types                 [wsl/lib-atomic, 004 Built-in Atomic Types]
///
/// `atomic_int`, `atomic_uint`.
pub fn atomic(name: &str) -> Option<TypeId> {
    match name {
        "atomic_int" => Some(TypeId::ATOMIC_INT),
        "atomic_uint" => Some(TypeId::ATOMIC_UINT),
        _ => None,
    }
}

/// sampler is a type                                                [wsl/lib-sampler, 004 Samplers]
///
/// `sampler`.
pub fn sampler(name: &str) -> Option<TypeId> {
    (name == "sampler").then_some(TypeId::SAMPLER)
}

/// A short name of a vector, such as `float4`: a scalar's name and a number from 2 to 4.
fn short_vector(name: &str) -> Option<TypeId> {
    let (scalar, rest) = scalar_prefix(name)?;
    match *rest.as_bytes() {
        [n @ b'2'..=b'4'] => Some(TypeId::vector(scalar, n - b'0')),
        _ => None,
    }
}

/// A short name of a matrix, such as `float2x3`: a scalar's name, the number of columns, `x` and
/// the number of rows.
fn short_matrix(name: &str) -> Option<TypeId> {
    let (scalar, rest) = scalar_prefix(name)?;
    match (scalar, rest.as_bytes()) {
        (Scalar::Bool | Scalar::Float, &[n @ b'2'..=b'4', b'x', m @ b'2'..=b'4']) => Some(TypeId::matrix(scalar, n - b'0', m - b'0')),
        _ => None,
    }
}

fn scalar_prefix(name: &str) -> Option<(Scalar, &str)> {
    Scalar::ALL.into_iter().find_map(|s| Some((s, name.strip_prefix(s.name())?)))
}

/// vector<S, N>, written SN too, is a type for each scalar S and N from 2 to 4
///                                                   [wsl/lib-vector, 004 Built-in aggregate types]
///
/// `float4`, `vector<float, 4>`.
pub fn vector(types: &Types, name: &str, arguments: Arguments) -> Option<Found> {
    const RULE: Rule = Rule::WslLibVector;
    if name != "vector" {
        return short_vector(name).map(|id| without_arguments(RULE, id, name, arguments));
    }
    Some(match arguments.unwrap_or_default() {
        &[of, size] => match scalar_of(types, of) {
            Some(scalar) => size_of(RULE, name, "elements", size).map(|n| TypeId::vector(scalar, n)),
            None => Err(TypeNameError::Arguments(RULE, "the elements of `vector` must be bool, uint, int or float".into())),
        },
        found => Err(wrong_count(RULE, name, found.len(), "2: the type of the elements and their number")),
    })
}

/// matrix<S, N, M>, written SNxM too, is a type of N columns and M rows for S bool or float, N and
/// M from 2 to 4                                     [wsl/lib-matrix, 004 Built-in aggregate types]
///
/// `float2x3`, `matrix<float, 2, 3>`.
pub fn matrix(types: &Types, name: &str, arguments: Arguments) -> Option<Found> {
    const RULE: Rule = Rule::WslLibMatrix;
    if name != "matrix" {
        return short_matrix(name).map(|id| without_arguments(RULE, id, name, arguments));
    }
    Some(match arguments.unwrap_or_default() {
        &[of, columns, rows] => match scalar_of(types, of) {
            Some(scalar @ (Scalar::Bool | Scalar::Float)) => size_of(RULE, name, "columns", columns)
                .and_then(|n| size_of(RULE, name, "rows", rows).map(|m| TypeId::matrix(scalar, n, m))),
            _ => Err(TypeNameError::Arguments(RULE, "the elements of `matrix` must be bool or float".into())),
        },
        found => Err(wrong_count(RULE, name, found.len(), "3: the type of the elements, the number of columns and the number of rows")),
    })
}

/// each name of a texture, followed by \<T\>, is a type for T uint, int, float or a vector of them;
/// of depth textures for float alone                                [wsl/lib-texture, 004 Textures]
///
/// `Texture2D<float4>`, `TextureDepth2D<float>`.
pub fn texture(types: &mut Types, name: &str, arguments: Arguments) -> Option<Found> {
    const RULE: Rule = Rule::WslLibTexture;
    let kind = TextureKind::ALL.into_iter().find(|k| k.name() == name)?;
    let of = match arguments {
        None => texture_default(kind),
        Some(&[TypeArgumentValue::Type(id)]) => {
            let fits = match types.get(id) {
                Type::Scalar(s) | Type::Vector(s, _) if !kind.depth() => s != Scalar::Bool,
                ty => ty == Type::Scalar(Scalar::Float),
            };
            if !fits {
                let required = if kind.depth() { "float" } else { "uint, int, float or a vector of them" };
                return Some(Err(TypeNameError::Arguments(RULE, format!("the elements of `{name}` must be {required}"))));
            }
            id
        }
        Some([_]) => return Some(Err(TypeNameError::Arguments(RULE, format!("the argument of `{name}` must be a type")))),
        Some(found) => return Some(Err(wrong_count(RULE, name, found.len(), "1, or none without the `<` and `>`"))),
    };
    Some(Ok(types.intern(Type::Texture(kind, of))))
}

/// the name of a texture without \<T\> is the type for float4, of depth textures for float
///                                                          [wsl/lib-texture-default, 004 Textures]
///
/// The element type of a texture type without arguments: `float4`, for a depth texture `float`.
pub fn texture_default(kind: TextureKind) -> TypeId {
    vector_or_scalar(Scalar::Float, if kind.depth() { 1 } else { 4 })
}

/// The built-in type of that name with those arguments. They are `None` if there is no `<` and `>`.
///
/// # Errors
///
/// If no built-in type has that name, or if its arguments do not fit it.
pub fn type_named(types: &mut Types, name: &str, arguments: Arguments) -> Found {
    if let Some(id) = scalar(name) {
        return without_arguments(Rule::WslLibScalar, id, name, arguments);
    }
    if let Some(found) = vector(types, name, arguments).or_else(|| matrix(types, name, arguments)) {
        return found;
    }
    if let Some(id) = atomic(name) {
        return without_arguments(Rule::WslLibAtomic, id, name, arguments);
    }
    if let Some(id) = sampler(name) {
        return without_arguments(Rule::WslLibSampler, id, name, arguments);
    }
    texture(types, name, arguments).unwrap_or(Err(TypeNameError::Unknown))
}

/// The rules by which a name is that built-in type. `arguments` says whether the name
/// has arguments.
pub fn rules(types: &Types, id: TypeId, arguments: bool) -> impl Iterator<Item = Rule> {
    let (rule, default) = match types.get(id) {
        Type::Void | Type::Scalar(_) => (Some(Rule::WslLibScalar), None),
        Type::Atomic(_) => (Some(Rule::WslLibAtomic), None),
        Type::Vector(..) => (Some(Rule::WslLibVector), None),
        Type::Matrix(..) => (Some(Rule::WslLibMatrix), None),
        Type::Sampler => (Some(Rule::WslLibSampler), None),
        Type::Texture(..) => (Some(Rule::WslLibTexture), (!arguments).then_some(Rule::WslLibTextureDefault)),
        _ => (None, None),
    };
    rule.into_iter().chain(default)
}

/// Whether a built-in type, with or without arguments, has that name.
pub fn is_type_name(name: &str) -> bool {
    let generic = matches!(name, "vector" | "matrix") || TextureKind::ALL.into_iter().any(|k| k.name() == name);
    generic || scalar(name).or(atomic(name)).or(sampler(name)).or(short_vector(name)).or(short_matrix(name)).is_some()
}

/// The names of a program's structs and enums.
pub trait UserNames {
    /// The name of a struct.
    fn struct_name(&self, id: StructId) -> &str;
    /// The name of an enum.
    fn enum_name(&self, id: EnumId) -> &str;
}

/// Stands for the names of a program without structs and enums.
impl UserNames for () {
    fn struct_name(&self, _: StructId) -> &str {
        "struct"
    }

    fn enum_name(&self, _: EnumId) -> &str {
        "enum"
    }
}

/// The type as it can be written. Vectors and matrices have their short names. Suffixes have their
/// address spaces, as in `int* thread`.
pub fn type_name(types: &Types, id: TypeId, names: &dyn UserNames) -> String {
    use std::fmt::Write as _;
    let (mut id, mut suffixes, mut out) = (id, Vec::new(), String::new());
    loop {
        let ty = types.get(id);
        let _ = match ty {
            Type::Array(of, _) | Type::Pointer(_, of) | Type::ArrayReference(_, of) => {
                suffixes.push(ty);
                id = of;
                continue;
            }
            Type::Void => write!(out, "void"),
            Type::Scalar(s) => write!(out, "{}", s.name()),
            Type::Atomic(s) => write!(out, "atomic_{}", s.name()),
            Type::Sampler => write!(out, "sampler"),
            Type::Vector(s, n) => write!(out, "{}{n}", s.name()),
            Type::Matrix(s, n, m) => write!(out, "{}{n}x{m}", s.name()),
            Type::Texture(kind, of) => {
                // The element is a scalar or a vector, so the recursion ends here.
                write!(out, "{}<{}>", kind.name(), type_name(types, of, names))
            }
            Type::Struct(s) => write!(out, "{}", names.struct_name(s)),
            Type::Enum(e) => write!(out, "{}", names.enum_name(e)),
        };
        break;
    }
    for suffix in suffixes.into_iter().rev() {
        let _ = match suffix {
            Type::Array(_, n) => write!(out, "[{n}]"),
            Type::Pointer(space, _) => write!(out, "* {}", space.keyword()),
            Type::ArrayReference(space, _) => write!(out, "[] {}", space.keyword()),
            _ => Ok(()),
        };
    }
    out
}
