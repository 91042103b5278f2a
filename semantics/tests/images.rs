//! Images: codes of components, storage, and sampling, compared with a second implementation in
//! exact fractions.

#[path = "images/random.rs"]
mod random;
#[path = "images/sampling.rs"]
mod sampling;
#[path = "images/second.rs"]
mod second;
#[path = "images/shapes.rs"]
mod shapes;
#[path = "images/storage.rs"]
mod storage;
#[path = "images/texels.rs"]
mod texels;
