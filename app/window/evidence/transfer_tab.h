#pragma once

// How far what was learned on one device, or one kind of device, holds on another: fitted on the lines, judged on the
// columns, of the references that are open.

#include "app/window/evidence/reference_shelf.h"
#include "evaluation/transfer/transfer.h"

#include <QWidget>

#include <optional>

class QComboBox;
class QLineEdit;
class QPushButton;

namespace orrery::ui {
class CellsTable;
class Label;
}  // namespace orrery::ui

namespace orrery::app {

class Background;

class TransferTab : public QWidget {
    Q_OBJECT
public:
    explicit TransferTab(ReferenceShelf* shelf, QWidget* parent = nullptr);
    void judge();
    const std::optional<Transfer>& result() const { return result_; }
    /// CSV or JSON by the file's ending; an error text, empty if done.
    QString exportTo(const QString& file) const;

private:
    QWidget* buildForm();
    void refuse(const Diagnostic& why);
    void outdate();  ///< the question has changed since the figures were made
    void showState();
    void showResult();
    void chooseFile();

    ReferenceShelf* shelf_;
    std::optional<Transfer> result_;
    bool refused_ = false;
    QLineEdit* where_;
    QComboBox *method_, *by_, *fit_;
    QPushButton *run_, *export_;
    ui::Label* state_;
    ui::CellsTable* table_;
    Background* work_;
};

}  // namespace orrery::app
