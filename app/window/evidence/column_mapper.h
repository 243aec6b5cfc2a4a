#pragma once

// Any CSV becomes references: its first rows, which column says what, the kernels that come of it and what is left out,
// all at once while a person chooses.

#include "app/window/evidence/reference_shelf.h"
#include "evaluation/column_mapping.h"
#include "evaluation/reference_table.h"

#include <QTimer>
#include <QWidget>

#include <optional>

class QComboBox;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace orrery::ui {
class CellsTable;
class Label;
}  // namespace orrery::ui

namespace orrery::app {

class MappingForm;

class ColumnMapper : public QWidget {
    Q_OBJECT
public:
    explicit ColumnMapper(ReferenceShelf* shelf, QWidget* parent = nullptr);
    /// Shows the file with a first guess; says why if it cannot be read, and returns false.
    bool open(const QString& file);
    const std::optional<ReferenceTable>& preview() const { return preview_; }
    const ColumnMapping& mapping() const { return mapping_; }
    /// Writes the mapping as an import description; the reason if that fails, else nothing.
    QString save(const QString& file);

signals:
    void done();  ///< imported, or left

private:
    void tryNow();
    void showSample();
    void showPreview(const std::vector<Diagnostic>& wrong);
    void chooseFile();
    void import();

    ReferenceShelf* shelf_;
    TableSample sample_;
    ColumnMapping mapping_;
    std::shared_ptr<const ImportDescription> description_;
    std::optional<ReferenceTable> preview_;
    MappingForm* form_;
    ui::CellsTable *rows_, *kernels_;
    QListWidget* problems_;
    QPushButton *save_, *import_, *close_;
    ui::Label *file_, *state_;
    QTimer due_;
};

}  // namespace orrery::app
