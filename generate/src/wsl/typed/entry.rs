//! Entry points of the three stages, with all kinds of arguments and results.

use super::{Flavour, Generator, Variable};
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};

/// An argument or result, or a field of one.
#[derive(Clone)]
struct Item {
    qualifiers: String,
    ty: TypeId,
    name: String,
    semantic: String,
}

const UINT3: TypeId = TypeId::vector(Scalar::Uint, 3);
const FLOAT4: TypeId = TypeId::vector(Scalar::Float, 4);

impl Generator {
    /// Generates an entry point. `first` says whether it is the first of the program.
    pub(super) fn entry_point(&mut self, first: bool) {
        let stage = self.stage_of_purpose(first);
        let flavour = [Flavour::Any, Flavour::Fragment, Flavour::Compute][stage];
        let mut inputs = self.inputs(stage);
        let outputs = self.outputs(stage);
        let mut variables: Vec<Variable> = Vec::new();
        let mut texts = Vec::new();
        // Some arguments become fields of structures, perhaps nested.
        while inputs.len() > 1 && self.one_in(2) {
            let n = 1 + self.below(inputs.len());
            // An array reference cannot be a field. Fields of a structure stay there.
            let (fields, others): (Vec<Item>, Vec<Item>) =
                inputs[..n].iter().cloned().partition(|item| !self.is_reference(item.ty) && !item.semantic.is_empty());
            if fields.is_empty() {
                break;
            }
            inputs.splice(..n, others);
            let ty = self.structure_of(&fields);
            let name = self.fresh("a");
            if self.one_in(3) {
                let outer = self.structure_of(&[Item { qualifiers: String::new(), ty, name, semantic: String::new() }]);
                let name = self.fresh("a");
                inputs.push(Item { qualifiers: String::new(), ty: outer, name, semantic: String::new() });
            } else {
                // Members that occur twice are the same inputs.
                if self.one_in(8) {
                    let second_name = self.fresh("a");
                    inputs.push(Item { qualifiers: String::new(), ty, name: second_name, semantic: String::new() });
                }
                inputs.push(Item { qualifiers: String::new(), ty, name, semantic: String::new() });
            }
        }
        if self.textured {
            inputs.extend(self.textures());
        }
        for item in &inputs {
            let written = self.type_text(item.ty);
            texts.push(format!("{}{written} {}{}", item.qualifiers, item.name, item.semantic));
            variables.push(Variable { name: item.name.as_str().into(), ty: item.ty, space: AddressSpace::Thread });
        }
        let (result, semantic) = match &outputs[..] {
            [] => (TypeId::VOID, String::new()),
            [item] if self.one_in(2) && item.qualifiers.is_empty() => (item.ty, item.semantic.clone()),
            items => (self.structure_of(items), String::new()),
        };
        let name = self.fresh("main");
        let stage_text = match stage {
            0 => "vertex".to_string(),
            1 => "fragment".to_string(),
            _ => {
                let (text, threads) = self.numthreads();
                if let Some(buffer_parameters) = self.own_buffer(threads, &mut variables) {
                    texts.push(buffer_parameters);
                }
                format!("{text} compute")
            }
        };
        let written = self.type_text(result);
        let body = self.function_body(variables, result, flavour);
        (self.own_element, self.has_stored) = (None, false);
        self.decls.push(format!("{stage_text} {written} {name}({}){semantic} {body}", texts.join(", ")));
    }

    fn structure_of(&mut self, items: &[Item]) -> TypeId {
        let name = self.fresh("IO");
        let mut text = format!("struct {name} {{ ");
        for item in items {
            let written = self.type_text(item.ty);
            text.push_str(&format!("{}{written} {}{}; ", item.qualifiers, item.name, item.semantic));
        }
        self.decls.push(format!("{text}}}"));
        self.add_structure(name, items.iter().map(|i| (i.name.as_str().into(), i.ty)).collect())
    }

    fn item(&mut self, ty: TypeId, semantic: impl std::fmt::Display) -> Item {
        Item { qualifiers: String::new(), ty, name: self.fresh("i"), semantic: format!(" : {semantic}") }
    }

    /// A scalar, vector or matrix type.
    fn stage_type(&mut self) -> TypeId {
        self.value_type(0)
    }

    fn attributes(&mut self, interpolated: bool) -> Vec<Item> {
        let mut out = Vec::new();
        for i in 0..self.below(3) {
            let ty = self.stage_type();
            let mut item = self.item(ty, format!("attribute({i})"));
            item.qualifiers = if interpolated {
                let interpolation = self.pick(&["", "", "nointerpolation ", "noperspective "]);
                let interpolation = if self.is_flat(ty) { "nointerpolation " } else { interpolation };
                format!("{interpolation}{}", self.pick(&["", "", "centroid ", "sample "]))
            } else {
                self.ignored_qualifiers()
            };
            out.push(item);
        }
        out
    }

    fn inputs(&mut self, stage: usize) -> Vec<Item> {
        let builtin: &[(&str, TypeId)] = match stage {
            0 => &[("SV_InstanceID", TypeId::UINT), ("SV_VertexID", TypeId::UINT)],
            1 => &[("SV_IsFrontFace", TypeId::BOOL), ("SV_SampleIndex", TypeId::UINT), ("SV_InnerCoverage", TypeId::UINT)],
            _ => &[("SV_DispatchThreadID", UINT3), ("SV_GroupID", UINT3), ("SV_GroupIndex", TypeId::UINT), ("SV_GroupThreadID", UINT3)],
        };
        let mut out = Vec::new();
        for (name, ty) in builtin {
            if self.one_in(2) {
                let mut item = self.item(*ty, name);
                item.qualifiers = self.ignored_qualifiers();
                out.push(item);
            }
        }
        if stage < 2 {
            out.extend(self.attributes(stage == 1));
            if self.one_in(3) {
                let ty = self.scalar();
                out.push(self.item(ty, "specialized"));
            }
        }
        for i in 0..self.below(4) {
            let ty = if self.one_in(2) {
                self.opaque_type()
            } else {
                let mut element = self.value_type(1);
                if !self.is_slice_element(element) || self.is_unbound(element) {
                    element = self.pick(&[TypeId::FLOAT, TypeId::ATOMIC_UINT, TypeId::ATOMIC_INT, FLOAT4]);
                }
                let space = self.pick(&[AddressSpace::Device, AddressSpace::Constant]);
                self.reference_to(space, element)
            };
            let semantic = if self.one_in(2) { format!("register(r{i})") } else { format!("register(r{i}, space{i})") };
            out.push(self.item(ty, semantic));
            // Most functions of textures take a sampler.
            if matches!(self.ty(ty), Type::Texture(..)) && self.one_in(2) {
                out.push(self.item(TypeId::SAMPLER, format!("register(s{i})")));
            }
        }
        out
    }

    /// One or two textures and a sampler, at other registers than those of [`Generator::inputs`].
    fn textures(&mut self) -> Vec<Item> {
        let mut out = vec![self.item(TypeId::SAMPLER, "register(s8)")];
        for i in 0..1 + self.below(2) {
            let ty = self.texture_type();
            out.push(self.item(ty, format!("register(r{})", 7 + i)));
        }
        out
    }

    pub(super) fn is_slice_element(&self, ty: TypeId) -> bool {
        match self.ty(ty) {
            Type::Scalar(_) | Type::Vector(..) | Type::Matrix(..) => true,
            Type::Struct(s) => self.structs[s.0 as usize].fields.iter().all(|f| self.is_slice_element(f.1)),
            _ => false,
        }
    }

    fn outputs(&mut self, stage: usize) -> Vec<Item> {
        let mut out = Vec::new();
        match stage {
            0 => {
                if !self.one_in(4) {
                    out.push(self.item(FLOAT4, "SV_Position"));
                }
                if self.one_in(4) {
                    out.push(self.item(TypeId::FLOAT, "PSIZE"));
                }
                out.extend(self.attributes(true));
            }
            1 => {
                for i in 0..self.targets() {
                    out.push(self.item(FLOAT4, format!("SV_Target {i}")));
                }
                if self.one_in(3) {
                    out.push(self.item(TypeId::FLOAT, "SV_Depth"));
                }
                if self.one_in(3) {
                    out.push(self.item(TypeId::UINT, "SV_Coverage"));
                }
            }
            _ => {}
        }
        out
    }
}
