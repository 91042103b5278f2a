//! Functions of textures, and operations over quads: seed 004 "Sampler and texture operations",
//! "Floating point arithmetic".
//!
//! A meeting of a quad takes two instructions. The first waits. When it goes on, the operands of
//! all four threads are next to each other. The second works on them.

use super::{Compiler, Done};
use crate::wsl::library::{LibraryFunction, Meaning};
use crate::wsl::machine::code::{Instruction, Meeting, Slot, TextureCall, Words};
use crate::wsl::meaning::Derivative;
use crate::wsl::texture::sampling::needs_quad;
use crate::wsl::texture::{elements_of, is_function};
use crate::wsl::types::{Type, TypeId};

impl Compiler<'_> {
    /// Calls a function of textures or quads. Returns the slot of its result. `None` for
    /// other functions.
    pub(super) fn texture_or_quad(&mut self, f: LibraryFunction, operands: &[(Slot, TypeId)], ty: TypeId) -> Done<Option<Slot>> {
        if let (Some(_), &[(at, of)]) = (Derivative::of(f.meaning()), operands) {
            let n = self.words(of)?;
            let meeting = self.meeting(f.meaning(), Words { at, n })?;
            let to = self.temporary(n)?;
            self.emit(Instruction::Derivative { meeting, to })?;
            return Ok(Some(to));
        }
        match is_function(f.meaning()) {
            true => self.texture(f.meaning(), operands, ty).map(Some),
            false => Ok(None),
        }
    }

    fn texture(&mut self, meaning: Meaning, operands: &[(Slot, TypeId)], ty: TypeId) -> Done<Slot> {
        let types = &self.program.env.types;
        let Some((&(texture, of), rest)) = operands.split_first() else { return self.unsupported("a texture's function without one") };
        let components = match types.get(of) {
            Type::Texture(_, of) => elements_of(types, of).1,
            _ => return self.unsupported("a texture's function of something else"),
        };
        let (sampler, rest) = match rest.split_first() {
            Some((&(sampler, TypeId::SAMPLER), rest)) => (Some(sampler), rest),
            _ => (None, rest),
        };
        let (mut arguments, mut stored, mut pointers) = (Vec::new(), Vec::new(), Vec::new());
        for &(at, of) in rest {
            if let Type::Pointer(_, to) = self.program.env.types.get(of) {
                let n = self.words(to)?;
                stored.push((to, Words { at: self.temporary(n)?, n }));
                pointers.push((at, of));
            } else {
                arguments.push((of, Words { at, n: self.words(of)? }));
            }
        }
        let meeting = match arguments.first() {
            Some(&(of, Words { at, .. })) if needs_quad(meaning) => {
                let n = elements_of(&self.program.env.types, of).1 as u32;
                Some(self.meeting(meaning, Words { at, n })?)
            }
            _ => None,
        };
        let n = self.words(ty)?;
        let result = Words { at: self.temporary(n)?, n };
        self.keep_types();
        let slots: Vec<Slot> = stored.iter().map(|(_, words): &(TypeId, Words)| words.at).collect();
        self.code.textures.push(TextureCall { meaning, texture, components, sampler, arguments, ty, result, stored, meeting });
        let call = self.code.textures.len() as u32 - 1;
        self.emit(Instruction::Texture { call })?;
        for ((pointer, ty), from) in pointers.into_iter().zip(slots) {
            self.store_through(pointer, ty, from)?;
        }
        Ok(result.at)
    }

    /// Waits for the quad, with that operand. Returns the index of the meeting.
    fn meeting(&mut self, meaning: Meaning, operand: Words) -> Done<u32> {
        let gathered = self.temporary(4 * operand.n)?;
        let chosen = self.temporary(2)?;
        self.code.meetings.push(Meeting { meaning, operand, gathered, chosen });
        let meeting = self.code.meetings.len() as u32 - 1;
        let at = self.emit(Instruction::Quad { meeting })?;
        self.note_loops(at);
        Ok(meeting)
    }
}
