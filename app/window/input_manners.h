#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>

class QAbstractItemView;
class QComboBox;
class QKeyEvent;

namespace orrery::app {

/// What every field of the studio does with the wheel, with Ctrl+Z and with letters. The wheel scrolls, and changes no
/// value that it passes over. Ctrl+Z undoes typing while one types; where nothing is half typed it is the project's.
/// Letters find a choice by any of its words: `h100` finds `NVIDIA H100 SXM`.
class InputManners : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    bool search(QComboBox& box, QAbstractItemView* popup, const QKeyEvent& key);

    QString typed_;
    QElapsedTimer since_;  ///< the last letter
    QPointer<QComboBox> in_;
};

}  // namespace orrery::app
