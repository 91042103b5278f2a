//! The float controls that a device supports for floats of 16, 32 and 64 bits:
//! `VkPhysicalDeviceFloatControlsProperties`.

/// The float controls of one width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatControls {
    /// `SignedZeroInfNanPreserve` may be declared.
    pub signed_zero_inf_nan_preserve: bool,
    /// `DenormPreserve` may be declared.
    pub denorm_preserve: bool,
    /// `DenormFlushToZero` may be declared.
    pub denorm_flush_to_zero: bool,
    /// `RoundingModeRTE` (to nearest, ties to even) may be declared.
    pub rounding_mode_rte: bool,
    /// `RoundingModeRTZ` (towards zero) may be declared.
    pub rounding_mode_rtz: bool,
}

impl FloatControls {
    /// The float controls of one width, from the properties in the order of the fields.
    pub(super) fn new(
        [signed_zero_inf_nan_preserve, denorm_preserve, denorm_flush_to_zero, rounding_mode_rte, rounding_mode_rtz]: [u32; 5],
    ) -> Self {
        FloatControls {
            signed_zero_inf_nan_preserve: signed_zero_inf_nan_preserve != 0,
            denorm_preserve: denorm_preserve != 0,
            denorm_flush_to_zero: denorm_flush_to_zero != 0,
            rounding_mode_rte: rounding_mode_rte != 0,
            rounding_mode_rtz: rounding_mode_rtz != 0,
        }
    }

    pub(crate) fn bits(self) -> u32 {
        u32::from(self.signed_zero_inf_nan_preserve)
            | u32::from(self.denorm_preserve) << 1
            | u32::from(self.denorm_flush_to_zero) << 2
            | u32::from(self.rounding_mode_rte) << 3
            | u32::from(self.rounding_mode_rtz) << 4
    }

    pub(crate) fn from_bits(bits: u32) -> FloatControls {
        FloatControls {
            signed_zero_inf_nan_preserve: bits & 1 != 0,
            denorm_preserve: bits & 2 != 0,
            denorm_flush_to_zero: bits & 4 != 0,
            rounding_mode_rte: bits & 8 != 0,
            rounding_mode_rtz: bits & 16 != 0,
        }
    }
}

/// The float controls of the widths 16, 32 and 64, in this order.
pub type FloatControlsByWidth = [FloatControls; 3];
