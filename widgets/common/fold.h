#pragma once

#include "widgets/common/label.h"

#include <QAbstractButton>

namespace orrery::ui {

/// The head of a section that folds away: its title, and what is set in it while it is closed.
class FoldHead : public QAbstractButton {
    Q_OBJECT
public:
    FoldHead(const QString& objectName, const QString& title, const QString& tip, QWidget* parent = nullptr);
    void setSummary(const QString& summary, Tone tone = Tone::Muted);
    const QString& summary() const { return summary_; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {80, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString summary_;
    Tone tone_ = Tone::Muted;
};

/// A section of a form that folds away. Closed at first; a click on its head, or Space, opens it.
class Fold : public QWidget {
    Q_OBJECT
public:
    Fold(const QString& objectName, const QString& title, const QString& tip, QWidget* parent = nullptr);
    QWidget* body() const { return body_; }
    FoldHead* head() const { return head_; }
    bool isOpen() const { return head_->isChecked(); }
    void setOpen(bool open) { head_->setChecked(open); }

private:
    FoldHead* head_;
    QWidget* body_;
};

}  // namespace orrery::ui
