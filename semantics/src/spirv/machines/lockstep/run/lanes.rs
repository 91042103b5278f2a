//! Computing instructions lane by lane, by the scalar functions that the relation uses too.

use smallvec::SmallVec;

use super::super::column;
use super::super::program::{Site, Slot};
use super::codes::Done;
use super::warp::{Warp, kept};
use super::{Broken, Shared};
use crate::number::{Computed, Trust};
use crate::spirv::operation::{Bits, Calculator, Operand, Site as Where, pure};
use crate::spirv::report;
use crate::spirv::value::{Origin, Scalar};
use crate::undefined::Ub;

impl Warp {
    /// An instruction lane by lane.
    pub(super) fn compute(&mut self, site: &Site, shared: &Shared<'_>) -> Done {
        let Calculator { environment, planted, .. } = self.calculator;
        for lane in column::lanes(self.active) {
            let is_undefined = |warp: &mut Warp, slot: Slot| kept(slot).any(|k| *warp.undefined_mut(k) >> lane & 1 == 1);
            let doubtful = site.args.iter().any(|(_, slots)| slots.iter().any(|&slot| is_undefined(self, slot)));
            let bits: SmallVec<[SmallVec<[u64; 4]>; 3]> =
                site.args.iter().map(|(_, slots)| slots.iter().map(|&slot| self.bits(slot, lane)).collect()).collect();
            if !doubtful && !site.no_signed_wrap && !site.no_unsigned_wrap && planted.is_none() {
                let args: SmallVec<[Bits<'_>; 3]> =
                    site.args.iter().zip(&bits).map(|((shape, _), bits)| Bits { shape: *shape, bits }).collect();
                if let Some(components) = pure(site.operation, &args, &site.results, environment) {
                    for (&slot, component) in site.to.iter().zip(components) {
                        match component {
                            Computed::Value(bits) => self.put(slot, lane, bits),
                            Computed::Undefined(kind) => {
                                let invocation = self.number + lane as u32;
                                self.put_undefined(slot, lane, Origin { kind, instruction: site.instruction, invocation });
                            }
                            Computed::Behaviour(ub) => return Err(self.faulty(ub, site, lane, shared)),
                        }
                    }
                    continue;
                }
            }
            let scalars: SmallVec<[SmallVec<[Scalar; 4]>; 3]> = site
                .args
                .iter()
                .zip(&bits)
                .map(|((_, slots), bits)| {
                    let scalar = |(&slot, &bits): (&Slot, &u64)| {
                        let doubtful = kept(slot).find(|&k| *self.undefined_mut(k) >> lane & 1 == 1);
                        let undefined = doubtful.map(|kept| self.origin(kept, lane, site.instruction));
                        Scalar { bits, trust: Trust::CERTAIN, undefined }
                    };
                    slots.iter().zip(bits).map(scalar).collect()
                })
                .collect();
            let args: SmallVec<[Operand<'_>; 3]> =
                site.args.iter().zip(&scalars).map(|((shape, _), scalars)| Operand { shape: *shape, scalars }).collect();
            let place = Where {
                instruction: site.instruction,
                invocation: self.number + lane as u32,
                no_signed_wrap: site.no_signed_wrap,
                no_unsigned_wrap: site.no_unsigned_wrap,
            };
            match self.calculator.compute(site.operation, &args, &site.results, place) {
                Err(ub) => return Err(self.faulty(ub, site, lane, shared)),
                Ok(results) => {
                    for (&slot, scalar) in site.to.iter().zip(results) {
                        match scalar.undefined {
                            Some(origin) => self.put_undefined(slot, lane, origin),
                            None => self.put(slot, lane, scalar.bits),
                        }
                    }
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn faulty(&self, ub: Ub, site: &Site, lane: usize, shared: &Shared<'_>) -> Broken {
        let module = &shared.program.module;
        // Operand for operand, in the components of all sites of the instruction.
        let ids = module.instructions().get(site.instruction as usize).map_or(&[][..], |i| report::computed_from(module, i));
        let sites: Vec<&Site> = shared.program.sites.iter().filter(|s| s.instruction == site.instruction).collect();
        let undefined = ids.iter().enumerate().find_map(|(k, &id)| {
            let mut slots = sites.iter().filter_map(|site| site.args.get(k)).flat_map(|(_, slots)| slots.iter().copied());
            let found = slots.find_map(|slot| kept(slot).find(|&k| self.is_undefined(k, lane)))?;
            Some((id, self.origin(found, lane, site.instruction)))
        });
        self.broken(shared, ub, report::computation(module, site.instruction, ub, undefined), site.instruction, 1 << lane)
    }

    pub(super) fn put(&mut self, slot: Slot, lane: usize, bits: u64) {
        match slot {
            Slot::Word(column) => self.columns[column as usize][lane] = bits as u32,
            Slot::Wide(low, high) => {
                self.columns[low as usize][lane] = bits as u32;
                self.columns[high as usize][lane] = (bits >> 32) as u32;
            }
            Slot::Truth(set) => {
                let set = &mut self.sets[set as usize];
                *set = *set & !(1 << lane) | (bits & 1) << lane;
            }
        }
        for kept in kept(slot) {
            *self.undefined_mut(kept) &= !(1 << lane);
        }
    }

    pub(super) fn put_undefined(&mut self, slot: Slot, lane: usize, origin: Origin) {
        for kept in kept(slot) {
            *self.undefined_mut(kept) |= 1 << lane;
            self.origins.insert((kept, lane as u8), origin);
        }
    }
}
