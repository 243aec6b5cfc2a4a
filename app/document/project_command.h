#pragma once

#include "app/document/commands/edit.h"

#include <QUndoCommand>

namespace orrery::app {

class Document;

/// Goes between two states of a document. Edits of one gesture (one drag of a slider) on one target merge, and vanish
/// if they end where they began.
class ProjectCommand : public QUndoCommand {
public:
    ProjectCommand(Document& document, ProjectStatePtr before, Edit edit, int gesture);

    void undo() override;
    void redo() override;
    int id() const override { return gesture_ > 0 && !edit_.target.isEmpty() ? 1 : -1; }
    bool mergeWith(const QUndoCommand* other) override;

private:
    Document& document_;
    ProjectStatePtr before_, after_;
    Edit edit_;  ///< words only; its state has moved to after_
    int gesture_;
};

}  // namespace orrery::app
