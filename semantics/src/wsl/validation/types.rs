//! WSL types (seed 004 "Typing of functions", "Built-in Types"). Each type has one id, so equal
//! types have equal ids.

use crate::wsl::syntax::AddressSpace;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;

/// The id of a type in [`Types`]. `void`, the sampler and the built-in scalars, vectors, matrices
/// and atomics have fixed ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);
/// The number of a struct in the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StructId(pub u32);
/// The number of an enum in the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub u32);

/// A scalar type. Vectors and matrices are made of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// `bool`
    Bool,
    /// `uint`
    Uint,
    /// `int`
    Int,
    /// `float`
    Float,
}

impl Scalar {
    /// All scalars.
    pub const ALL: [Scalar; 4] = [Scalar::Bool, Scalar::Uint, Scalar::Int, Scalar::Float];

    /// The name of its type.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::Uint => "uint",
            Scalar::Int => "int",
            Scalar::Float => "float",
        }
    }
}

/// The texture types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is its name")]
pub enum TextureKind {
    Texture1D,
    RWTexture1D,
    Texture1DArray,
    RWTexture1DArray,
    Texture2D,
    RWTexture2D,
    Texture2DArray,
    RWTexture2DArray,
    Texture3D,
    RWTexture3D,
    TextureCube,
    TextureDepth2D,
    RWTextureDepth2D,
    TextureDepth2DArray,
    RWTextureDepth2DArray,
    TextureDepthCube,
}

impl TextureKind {
    /// The texture types of the standard library, in the order of their bits in a set of kinds.
    pub const ALL: [TextureKind; 16] = [
        TextureKind::Texture1D,
        TextureKind::RWTexture1D,
        TextureKind::Texture1DArray,
        TextureKind::RWTexture1DArray,
        TextureKind::Texture2D,
        TextureKind::RWTexture2D,
        TextureKind::Texture2DArray,
        TextureKind::RWTexture2DArray,
        TextureKind::Texture3D,
        TextureKind::RWTexture3D,
        TextureKind::TextureCube,
        TextureKind::TextureDepth2D,
        TextureKind::RWTextureDepth2D,
        TextureKind::TextureDepth2DArray,
        TextureKind::RWTextureDepth2DArray,
        TextureKind::TextureDepthCube,
    ];

    /// Its name without arguments.
    pub fn name(self) -> &'static str {
        match self {
            TextureKind::Texture1D => "Texture1D",
            TextureKind::RWTexture1D => "RWTexture1D",
            TextureKind::Texture1DArray => "Texture1DArray",
            TextureKind::RWTexture1DArray => "RWTexture1DArray",
            TextureKind::Texture2D => "Texture2D",
            TextureKind::RWTexture2D => "RWTexture2D",
            TextureKind::Texture2DArray => "Texture2DArray",
            TextureKind::RWTexture2DArray => "RWTexture2DArray",
            TextureKind::Texture3D => "Texture3D",
            TextureKind::RWTexture3D => "RWTexture3D",
            TextureKind::TextureCube => "TextureCube",
            TextureKind::TextureDepth2D => "TextureDepth2D",
            TextureKind::RWTextureDepth2D => "RWTextureDepth2D",
            TextureKind::TextureDepth2DArray => "TextureDepth2DArray",
            TextureKind::RWTextureDepth2DArray => "RWTextureDepth2DArray",
            TextureKind::TextureDepthCube => "TextureDepthCube",
        }
    }

    /// Whether a shader can store to it.
    pub fn writable(self) -> bool {
        self.name().starts_with("RW")
    }

    /// Whether it is a depth texture. The elements of depth textures are `float`.
    pub fn depth(self) -> bool {
        self.name().contains("Depth")
    }
}

/// A right-value type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `void`
    Void,
    /// A scalar.
    Scalar(Scalar),
    /// `atomic_int`, `atomic_uint`: an atomic of that scalar.
    Atomic(Scalar),
    /// `sampler`
    Sampler,
    /// `vector<T, n>`, n from 2 to 4.
    Vector(Scalar, u8),
    /// `matrix<T, columns, rows>`, of `float` or `bool`.
    Matrix(Scalar, u8, u8),
    /// A texture and the type of its elements.
    Texture(TextureKind, TypeId),
    /// A struct.
    Struct(StructId),
    /// An enum.
    Enum(EnumId),
    /// `T[n]`
    Array(TypeId, u32),
    /// `T* space`
    Pointer(AddressSpace, TypeId),
    /// `T[] space`
    ArrayReference(AddressSpace, TypeId),
}

impl TypeId {
    /// `void`
    pub const VOID: TypeId = TypeId(0);
    /// `bool`
    pub const BOOL: TypeId = TypeId(1);
    /// `uint`
    pub const UINT: TypeId = TypeId(2);
    /// `int`
    pub const INT: TypeId = TypeId(3);
    /// `float`
    pub const FLOAT: TypeId = TypeId(4);
    /// `atomic_uint`
    pub const ATOMIC_UINT: TypeId = TypeId(5);
    /// `atomic_int`
    pub const ATOMIC_INT: TypeId = TypeId(6);
    /// `sampler`
    pub const SAMPLER: TypeId = TypeId(7);

    /// The type that is that scalar.
    pub const fn scalar(scalar: Scalar) -> TypeId {
        TypeId(1 + scalar as u32)
    }

    /// `vector<scalar, size>`, size from 2 to 4.
    pub const fn vector(scalar: Scalar, size: u8) -> TypeId {
        TypeId(8 + scalar as u32 * 3 + (size as u32 - 2))
    }

    /// `matrix<scalar, columns, rows>`, of `float` or `bool`, both numbers from 2 to 4.
    pub const fn matrix(scalar: Scalar, columns: u8, rows: u8) -> TypeId {
        let kind = if let Scalar::Bool = scalar { 0 } else { 1 };
        TypeId(20 + kind * 9 + (columns as u32 - 2) * 3 + (rows as u32 - 2))
    }
}

/// The number of types with fixed ids. Ids from here on belong to the types of a program.
pub const BUILT_IN: u32 = 38;

/// The types of a program.
#[derive(Clone, Debug)]
pub struct Types {
    /// The base type of each enum, `int` or `uint`, by the enum's number.
    pub enum_bases: Vec<TypeId>,
    /// The structs that contain a sampler or a texture.
    pub opaque_structs: FxHashSet<StructId>,
    list: Vec<Type>,
    index: FxHashMap<Type, TypeId>,
}

/// The types that every program has.
static BUILT_INS: LazyLock<Types> = LazyLock::new(Types::built_ins);

impl Default for Types {
    fn default() -> Types {
        BUILT_INS.clone()
    }
}

impl Types {
    fn built_ins() -> Types {
        let mut types = Types {
            enum_bases: Vec::new(),
            opaque_structs: FxHashSet::default(),
            list: Vec::with_capacity(64),
            index: FxHashMap::default(),
        };
        types.intern(Type::Void);
        for scalar in Scalar::ALL {
            types.intern(Type::Scalar(scalar));
        }
        types.intern(Type::Atomic(Scalar::Uint));
        types.intern(Type::Atomic(Scalar::Int));
        types.intern(Type::Sampler);
        for scalar in Scalar::ALL {
            for size in 2..=4 {
                types.intern(Type::Vector(scalar, size));
            }
        }
        for scalar in [Scalar::Bool, Scalar::Float] {
            for columns in 2..=4 {
                for rows in 2..=4 {
                    types.intern(Type::Matrix(scalar, columns, rows));
                }
            }
        }
        debug_assert_eq!(types.list.len() as u32, BUILT_IN);
        types
    }
}

impl Types {
    /// The id of a type. A new type gets a new id.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.index.get(&ty) {
            return id;
        }
        let id = TypeId(self.list.len() as u32);
        self.list.push(ty);
        self.index.insert(ty, id);
        id
    }

    /// The id of a type, if it has been interned.
    pub fn find(&self, ty: Type) -> Option<TypeId> {
        self.index.get(&ty).copied()
    }

    /// The type of that id.
    pub fn get(&self, id: TypeId) -> Type {
        self.list[id.0 as usize]
    }

    /// The number of types.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no types. This is never so: there are built-in types.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether the type is a pointer or an array reference.
    pub fn is_reference(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Pointer(..) | Type::ArrayReference(..))
    }
}

/// The type of an expression (seed 004 "Typing of functions").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// A left-value: it has an address in a space.
    Left(TypeId, AddressSpace),
    /// An abstract left-value: it can be assigned to.
    Abstract(TypeId),
    /// A right-value.
    Right(TypeId),
}

impl ValueType {
    /// The associated right-value type.
    pub fn right(self) -> TypeId {
        match self {
            ValueType::Left(ty, _) | ValueType::Abstract(ty) | ValueType::Right(ty) => ty,
        }
    }

    /// The associated right-value type, if this can be treated as an abstract left-value.
    pub fn assignable(self) -> Option<TypeId> {
        match self {
            ValueType::Left(ty, space) if space != AddressSpace::Constant => Some(ty),
            ValueType::Abstract(ty) => Some(ty),
            _ => None,
        }
    }
}
