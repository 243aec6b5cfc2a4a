#include "app/document/project_command.h"

#include "app/document/document.h"

namespace orrery::app {

ProjectCommand::ProjectCommand(Document& document, ProjectStatePtr before, Edit edit, int gesture)
    : document_(document), before_(std::move(before)), edit_(std::move(edit)), gesture_(gesture) {
    after_ = std::make_shared<const ProjectState>(std::move(edit_.after));
    edit_.after = {};
    setText(edit_.text());
}

void ProjectCommand::undo() {
    document_.show(before_);
}

void ProjectCommand::redo() {
    document_.show(after_);
}

bool ProjectCommand::mergeWith(const QUndoCommand* other) {
    const auto& later = static_cast<const ProjectCommand&>(*other);
    if (later.gesture_ != gesture_ || later.edit_.target != edit_.target) return false;
    after_ = later.after_;
    edit_.to = later.edit_.to;
    setText(edit_.text());
    // Back at the printed value it began with: the drag has changed nothing, not even whose number it is. A move has no
    // printed value.
    if ((!edit_.from.isEmpty() && edit_.from == edit_.to) || sameContent(*before_, *after_)) {
        setObsolete(true);
        document_.show(before_);
    }
    return true;
}

}  // namespace orrery::app
