#pragma once

// A study as a project, so that the studio opens it: designs, workloads and scenarios by name.

#include "store/project/project.h"
#include "store/project/study_file.h"

namespace orrery {

/// More scenarios than this are for the command line: nobody finds one of them in a list.
inline constexpr std::size_t mostShownScenarios = 500;

/// Designs that a sweep made of one device get names of their own (`NVIDIA H100 SXM`, `NVIDIA H100 SXM 2`), workloads
/// too. studyOfProject() of the result asks the same. Fails with `study.too-large`, and with `study.two-servings` for
/// several serving runs, since a project has one.
Expected<Project> projectOfStudy(const Study& study);

}  // namespace orrery
