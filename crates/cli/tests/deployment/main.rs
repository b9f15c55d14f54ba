//! What is deployed, as far as it can be tried without an engine for containers and without a cluster: files are read as their
//! readers would, command lines and settings are given to the real binary, and the steps of the image are executed in a folder.

#[path = "../common/mod.rs"]
mod common;
mod compose;
mod dockerfile;
mod files;
mod image;
mod kubernetes;
mod shape;
