//! WSL to SPIR-V: what a translated module shows is among what the program allows, it is valid, and
//! mistakes in the mapping are caught.

mod campaign;
mod cases;
mod generated;
mod library;
mod planted;
mod refused;
mod stages;
mod texture_cases;
mod textures;
mod valid;
