//! The places of a pixel's samples: Vulkan, Multisampling (Standard Sample Locations).
//!
//! That devices use these places (`standardSampleLocations`) is an assumption.

/// The numbers of samples that a pixel may have.
pub(super) const COUNTS: [u32; 5] = [1, 2, 4, 8, 16];

const TWO: [[i64; 2]; 2] = [[12, 12], [4, 4]];
const FOUR: [[i64; 2]; 4] = [[6, 2], [14, 6], [2, 10], [10, 14]];
const EIGHT: [[i64; 2]; 8] = [[9, 5], [7, 11], [13, 9], [5, 3], [3, 13], [1, 7], [11, 15], [15, 1]];
const SIXTEEN: [[i64; 2]; 16] = [
    [9, 9],
    [7, 5],
    [5, 10],
    [12, 7],
    [3, 6],
    [10, 13],
    [13, 11],
    [11, 3],
    [6, 14],
    [8, 1],
    [4, 2],
    [2, 12],
    [0, 8],
    [15, 4],
    [14, 15],
    [1, 0],
];

/// The place of a sample, in sixteenths of a pixel from the pixel's upper left corner. The centre
/// if there is one sample.
pub(super) fn location(samples: u32, sample: u32) -> [i64; 2] {
    let all: &[[i64; 2]] = match samples {
        2 => &TWO,
        4 => &FOUR,
        8 => &EIGHT,
        16 => &SIXTEEN,
        _ => &[],
    };
    all.get(sample as usize).copied().unwrap_or([8; 2])
}
