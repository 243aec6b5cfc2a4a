#pragma once

// Other programs that can be asked as methods: which are here, what they need, and the recorded output of those that
// are not. What is asked joins the project's methods and answers beside them.

#include "app/document/document.h"

#include <QDialog>

class QPushButton;
class QTreeWidget;

namespace orrery {
struct Adapter;
struct AdapterFound;
}  // namespace orrery

namespace orrery::ui {
class Label;
}

namespace orrery::app {

class Background;

class OtherPrograms : public QDialog {
    Q_OBJECT
public:
    explicit OtherPrograms(Document& document, QWidget* parent = nullptr);
    ~OtherPrograms() override;
    /// Looks for every program again, off this thread.
    void look();
    bool isLooking() const;

signals:
    void refused(const orrery::Diagnostic& why);
    void asked(const QString& method);  ///< it joined the project

private:
    struct Row {
        std::shared_ptr<const Adapter> adapter;
        std::shared_ptr<const AdapterFound> found;  ///< null until it was looked for
    };
    void lookAt(std::size_t row);
    void fill();
    void showChosen();
    const Row* chosen() const;
    bool isAsked(const QString& method) const;
    void ask(const QString& method);
    void readRecorded();
    void openFile();

    Document& document_;
    std::vector<Row> rows_;
    QTreeWidget* list_;
    ui::Label *detail_, *state_;
    QPushButton *ask_, *recorded_, *file_, *again_;
    Background* work_;
    bool told_ = false;  ///< what was asked stands in `state_`, whatever is still looked for
};

}  // namespace orrery::app
