#pragma once

// A lesson on paper.

#include "store/lessons/lesson.h"

#include <QString>

namespace orrery::app {

/// By the ending of the file: `.pdf`, `.html`, else Markdown; `start`: what the lesson begins with. Fails with the
/// reason of the system.
Expected<void> writeHandOut(const Lesson& lesson, const LessonFacts& start, const QString& file);

}  // namespace orrery::app
