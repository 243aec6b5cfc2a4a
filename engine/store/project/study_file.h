#pragma once

// A study as a file: `orrery: study/1`. Hardware × workloads × methods, and a `sweep` of attributes and options:
//
//     orrery: study/1
//     name: Bandwidth or batch?
//     hardware: [a100-80-sxm, {file: my-chip.yaml, set: {hbm.bandwidth: 4 TB/s}}]
//     workloads: [resnet-50, {source: llama-2-7b, phase: decode, sequence: 2048}]
//     methods: [roofline, hierarchical-roofline]     # absent: all
//     sweep: {hbm.bandwidth: [2 TB/s, 3.35 TB/s], batch: [1, 8, 64]}
//     plans: [tp=1, "tp=8, pp=2"]                    # absent: one device
//     tasks: [pass, training-step, traffic.yaml]     # absent: a pass; a file of serving is a serving run
//     software: [TensorRT-LLM 1.3, vLLM 0.24.0(graphs=off)]   # absent: none in particular
//     seed: 7
//     timelines: true                                # keep them with the results; absent: no
//
// A workload's options are the keys of a project's workload; what is absent stays at the model's usual value. A sweep
// key that is one of those options varies the workloads, any other one is the path of an attribute, as for --set.
// Relative paths are taken from the study's folder.

#include "store/project/project.h"
#include "study/study.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace orrery {

inline constexpr int studyVersion = 1;
/// More scenarios than this are refused: their answers would not fit in memory, nor in anybody's head.
inline constexpr std::size_t mostScenarios = 20'000;

struct LoadedStudy {
    Study study;
    Diagnostics warnings;
    bool timelines = false;
};

/// Reads a study and loads its hardware and workloads. `file` gives places and the folder of relative paths. Fails on
/// the first thing that cannot be read, found or set, with its place. Never throws.
Expected<LoadedStudy> readStudy(std::string_view yaml, std::string_view file = {});
Expected<LoadedStudy> readStudyFile(const std::string& path);

/// What a scenario of a project asks. Fails with `project.reference` for a serving run without `serving:`, and as
/// parseTask() does.
Expected<Task> taskOf(const ScenarioRef& scenario, const std::optional<ServingStudy>& serving);

/// The scenarios of a project as a study: its methods as far as they are known, all if it names none. Loads each
/// workload once; one that cannot be loaded fails the whole, naming it. Sources must have been resolved
/// (readProjectFile).
Expected<LoadedStudy> studyOfProject(const Project& project);

}  // namespace orrery
