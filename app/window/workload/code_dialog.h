#pragma once

// A workload that is spelled instead of opened: one kernel by its fields, a network of a search space by its code.

#include <QDialog>

#include <optional>

class QLineEdit;
class QPushButton;

namespace orrery {
struct ProjectWorkload;
}
namespace orrery::ui {
class Label;
}

namespace orrery::app {

class CodeDialog : public QDialog {
    Q_OBJECT
public:
    explicit CodeDialog(QWidget* parent = nullptr);
    /// What is spelled, where it can be read.
    std::optional<ProjectWorkload> workload() const;

private:
    void read();

    QLineEdit* code_;
    ui::Label* says_;
    QPushButton* add_;
};

}  // namespace orrery::app
