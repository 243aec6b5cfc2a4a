#pragma once

// Batch and sequence of the model in the tool bar, while presenting: what a class asks to see changed.

#include "app/document/document.h"

#include <QWidget>

namespace orrery::ui {
class ValueEdit;
}

namespace orrery::app {

/// Each change is one undo step. Hidden where the question has no such size.
class SizeFields : public QWidget {
    Q_OBJECT
public:
    explicit SizeFields(Document& document, QWidget* parent = nullptr);
    void setPresenting(bool presenting);

signals:
    void refused(const orrery::Diagnostic& why);

private:
    QWidget* addField(const QString& id, const QString& label, const QString& meaning, ui::ValueEdit*& edit,
                      std::int64_t WorkloadOptions::*size);
    void refresh();
    void set(std::int64_t WorkloadOptions::*size, const QString& text);

    Document& document_;
    bool presenting_ = false;
    ui::ValueEdit *batch_ = nullptr, *sequence_ = nullptr;
    QWidget *batchRow_ = nullptr, *sequenceRow_ = nullptr;
};

}  // namespace orrery::app
